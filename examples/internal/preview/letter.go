package preview

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/notify"
)

// A letter is one e-mail of one brand in one language.
type letter struct {
	ID      string // in addresses: the kind and the number of the sample
	Title   string // in Spanish
	Message mail.Message
}

var kindNames = map[string]string{
	notify.KindWelcome:               "Bienvenida",
	notify.KindPasswordReset:         "Restablecer la contraseña",
	notify.KindPurchaseConfirmed:     "Compra confirmada",
	notify.KindEventDateRescheduled:  "Fecha reprogramada",
	notify.KindEventDateSuspended:    "Fecha suspendida",
	notify.KindTest:                  "Mensaje de prueba",
	notify.KindIntegrationValidation: "Validación de la integración",
}

// lettersOf numbers the samples of each kind.
func lettersOf(previews []notify.Preview) []letter {
	samples := map[string]int{}
	for _, preview := range previews {
		samples[preview.Kind]++
	}
	var all []letter
	n := map[string]int{}
	for _, preview := range previews {
		kind := preview.Kind
		n[kind]++
		title := cmp.Or(kindNames[kind], kind)
		if samples[kind] > 1 {
			title += fmt.Sprintf(", ejemplo %d de %d", n[kind], samples[kind])
		}
		all = append(all, letter{ID: kind + "-" + strconv.Itoa(n[kind]), Title: title, Message: preview.Message})
	}
	return all
}

// find returns the place of an e-mail among others.
func find(all []letter, id string) (int, error) {
	for i, letter := range all {
		if letter.ID == id {
			return i, nil
		}
	}
	return 0, errNoPage
}

// A request is for one e-mail of one brand.
type request struct {
	letter
	brand  Brand
	choice choice
}

// asked returns what the address of a part of an e-mail names.
func (s *site) asked(r *http.Request) (request, error) {
	n, err := strconv.Atoi(r.PathValue("brand"))
	if err != nil || n < 1 || n > len(s.brands) {
		return request{}, errNoPage
	}
	edition, chosen, err := s.edition(r)
	if err != nil {
		return request{}, err
	}
	all, err := edition.letters(r.Context(), s.brands, n-1, chosen.Language)
	if err != nil {
		return request{}, err
	}
	i, err := find(all, r.PathValue("email"))
	if err != nil {
		return request{}, err
	}
	return request{all[i], s.brands[n-1], chosen}, nil
}

// edition returns what to show, and how.
func (s *site) edition(r *http.Request) (*edition, choice, error) {
	edition, err := s.load()
	if err != nil {
		return nil, choice{}, err
	}
	chosen, err := choiceOf(r.URL.Query(), edition.Languages())
	return edition, chosen, err
}
