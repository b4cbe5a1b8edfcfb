package web

import (
	"errors"
	"net/http"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// purchasesPage is the form of a purchase and the purchases.
type purchasesPage struct {
	Form      purchaseForm
	Faults    faults
	MaxSeats  int
	Users     []host.ListedUser
	Dates     []host.ListedDate // that take place
	Purchases []host.ListedPurchase
}

func (s *site) purchases(w http.ResponseWriter, r *http.Request) error {
	page, err := s.purchasesPage(r)
	if err != nil {
		return err
	}
	page.Form.Seats = "2"
	return s.show(w, r, http.StatusOK, "purchases", page)
}

func (s *site) purchasesPage(r *http.Request) (purchasesPage, error) {
	page := purchasesPage{MaxSeats: host.MaxSeats}
	var err error
	if page.Users, err = s.Host.ListUsers(r.Context()); err != nil {
		return page, err
	}
	dates, err := s.Host.ListDates(r.Context())
	if err != nil {
		return page, err
	}
	for _, date := range dates {
		if date.Scheduled() {
			page.Dates = append(page.Dates, date)
		}
	}
	page.Purchases, err = s.Host.ListPurchases(r.Context())
	return page, err
}

func (s *site) buy(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errBadForm
	}
	page, err := s.purchasesPage(r)
	if err != nil {
		return err
	}
	page.Form = readPurchaseForm(r.PostForm)
	purchase, wrong := page.Form.check(page.Users, page.Dates)
	if len(wrong) > 0 {
		page.Faults = wrong
		return s.show(w, r, http.StatusUnprocessableEntity, "purchases", page)
	}
	err = s.Host.Buy(r.Context(), purchase)
	if errors.Is(err, host.ErrNotForSale) { // The date was moved between the question and the answer.
		page.Faults = faults{fieldDate: "Esta fecha ya no está a la venta."}
		return s.show(w, r, http.StatusConflict, "purchases", page)
	}
	if err != nil {
		return err
	}
	return done(w, r, "/compras", "compra")
}

func (s *site) pay(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return errBadForm
	}
	if err := s.Host.Pay(r.Context(), id, delay(r)); err != nil {
		return err
	}
	if delay(r) > 0 {
		return done(w, r, "/compras", "pagada20")
	}
	return done(w, r, "/compras", "pagada")
}

func (s *site) annul(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	if err := s.Host.Annul(r.Context(), id); err != nil {
		return err
	}
	return done(w, r, "/compras", "anulada")
}

// ticketsPDF is the file that the confirmation has attached, made anew.
func (s *site) ticketsPDF(w http.ResponseWriter, r *http.Request) error {
	id, err := pathID(r, "id")
	if err != nil {
		return err
	}
	purchase, err := s.Host.FindPurchase(r.Context(), id)
	if err != nil {
		return err
	}
	file, err := s.Service.TicketsPDF(r.Context(), purchase.TenantCode, r.PathValue("id"), purchase.Language)
	if _, skipped := delivery.SkipReason(err); skipped {
		return host.ErrAnnulled
	}
	if err != nil {
		return err
	}
	if file == nil {
		return errNoPage
	}
	return serveFile(w, r, "inline", "entradas-"+purchase.Number+".pdf", typePDF, file)
}
