package preview

import (
	"bytes"
	"fmt"
	"net/http"
	netmail "net/mail"

	"github.com/buzon-go/buzon/delivery/smtp"
)

// emailPage shows one e-mail in the identity of each brand.
type emailPage struct {
	letter
	Choice         choice
	Groups         []group
	Previous, Next *letter // nil at the ends
	Columns        []column
}

// A column is the e-mail of one brand.
type column struct {
	letter
	Brand  string
	Number int    // of the brand, from 1
	Path   string // of the folder of its parts, such as "welcome-1/2/"
	Source string // without the attached files
	Rest   int    // how many bytes that leaves out
}

// Sender is the header From, decoded.
func (c column) Sender() string { return shown(c.Message.From) }

// Answers is the header Reply-To, decoded; empty for none.
func (c column) Answers() string {
	if c.Message.ReplyTo == nil {
		return ""
	}
	return shown(*c.Message.ReplyTo)
}

func shown(address netmail.Address) string {
	if address.Name == "" {
		return address.Address
	}
	return address.Name + " <" + address.Address + ">"
}

func (s *site) email(w http.ResponseWriter, r *http.Request) error {
	edition, chosen, err := s.edition(r)
	if err != nil {
		return err
	}
	page := emailPage{Choice: chosen, Groups: append([]group{chosen.languages(edition.Languages())}, chosen.looks()...)}
	for i, brand := range s.brands {
		all, err := edition.letters(r.Context(), s.brands, i, chosen.Language)
		if err != nil {
			return err
		}
		at, err := find(all, r.PathValue("email"))
		if err != nil {
			return err
		}
		column, err := newColumn(all[at], brand, i+1)
		if err != nil {
			return err
		}
		page.Columns = append(page.Columns, column)
		page.place(all, at)
	}
	return s.show(w, r, http.StatusOK, "email", page)
}

// place says which e-mail it is, and which are its neighbours.
func (p *emailPage) place(all []letter, at int) {
	p.letter = all[at]
	if at > 0 {
		p.Previous = &all[at-1]
	}
	if at+1 < len(all) {
		p.Next = &all[at+1]
	}
}

func newColumn(l letter, brand Brand, number int) (column, error) {
	source, err := smtp.Compose(&l.Message)
	if err != nil {
		return column{}, err
	}
	c := column{letter: l, Brand: brand.Name, Number: number, Path: fmt.Sprintf("%s/%d/", l.ID, number)}
	shown := withoutFiles(source)
	c.Source, c.Rest = string(shown), len(source)-len(shown)
	return c, nil
}

// withoutFiles cuts a source after the header of the first attached file.
func withoutFiles(source []byte) []byte {
	header := bytes.Index(source, []byte("\r\nContent-Disposition: attachment"))
	if header < 0 {
		return source
	}
	before, _, _ := bytes.Cut(source[header:], []byte("\r\n\r\n"))
	return source[:header+len(before)]
}
