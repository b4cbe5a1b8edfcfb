package web

import (
	"net/http"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail"
)

// deliveriesPage lists deliveries.
type deliveriesPage struct {
	Deliveries []*mail.Record
	Older      int64 // where the next page begins; 0 for no further page
}

func (s *site) deliveries(w http.ResponseWriter, r *http.Request) error {
	before, err := beforeID(r)
	if err != nil {
		return err
	}
	records, err := s.Mailer.ListDeliveries(r.Context(), mail.DeliveryFilter{Before: before, Limit: pageSize})
	if err != nil {
		return err
	}
	page := deliveriesPage{Deliveries: records}
	if len(records) == pageSize {
		page.Older = records[pageSize-1].ID
	}
	return s.show(w, r, http.StatusOK, "deliveries", page)
}

// decisions are what an operator can decide, by the button's value.
var decisions = map[string]struct {
	resolution mail.Resolution
	notice     string
}{
	"reenviar": {mail.SendAgain, "reenviar"},
	"enviado":  {mail.MarkSent, "resuelto"},
}

func (s *site) resolveDelivery(w http.ResponseWriter, r *http.Request) error {
	if err := r.ParseForm(); err != nil {
		return errBadForm
	}
	form := r.PostForm
	decision, ok := decisions[form.Get("decision")]
	if !ok {
		return errBadForm
	}
	by, reason := strings.TrimSpace(form.Get("quien")), strings.TrimSpace(form.Get("motivo"))
	if by == "" || reason == "" {
		return errNoReason
	}
	err := s.Mailer.Resolve(r.Context(), form.Get("tenant"), form.Get("clave"), decision.resolution, by, reason)
	if err != nil {
		return err
	}
	return done(w, r, "/entregas", decision.notice)
}
