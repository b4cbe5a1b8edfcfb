package web

import (
	"errors"
	"net/http"

	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// datesPage lists the dates of events.
type datesPage struct{ Dates []host.ListedDate }

func (s *site) dates(w http.ResponseWriter, r *http.Request) error {
	dates, err := s.Host.ListDates(r.Context())
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "dates", datesPage{dates})
}

// closePage asks, before a date is rescheduled or suspended, what to tell its
// buyers.
type closePage struct {
	Form   closeForm
	Faults faults
	Date   host.ListedDate
}

// closePage returns the question, about a date that can still be closed.
func (s *site) closePage(r *http.Request) (closePage, error) {
	id, err := pathID(r, "id")
	if err != nil {
		return closePage{}, err
	}
	date, err := s.Host.FindDate(r.Context(), id)
	if err == nil && !date.Scheduled() {
		err = host.ErrNotScheduled
	}
	return closePage{Date: date}, err
}

func (s *site) askReschedule(w http.ResponseWriter, r *http.Request) error {
	page, err := s.closePage(r)
	if err != nil {
		return err
	}
	page.Form = proposal(page.Date)
	return s.show(w, r, http.StatusOK, "reschedule", page)
}

func (s *site) reschedule(w http.ResponseWriter, r *http.Request) error {
	page, err := s.readClosePage(r)
	if err != nil {
		return err
	}
	startsAt, wrong := page.Form.start(page.Date)
	page.Form.checkNotice(wrong)
	if len(wrong) > 0 {
		page.Faults = wrong
		return s.show(w, r, http.StatusUnprocessableEntity, "reschedule", page)
	}
	err = s.Host.Reschedule(r.Context(), page.Date.ID, startsAt, page.Form.Notice)
	if errors.Is(err, host.ErrDateTaken) {
		page.Faults = faults{fieldTime: "El evento ya tiene una fecha que empieza a esa hora."}
		return s.show(w, r, http.StatusConflict, "reschedule", page)
	}
	if err != nil {
		return err
	}
	return done(w, r, "/fechas", "movida")
}

func (s *site) askSuspend(w http.ResponseWriter, r *http.Request) error {
	page, err := s.closePage(r)
	if err != nil {
		return err
	}
	return s.show(w, r, http.StatusOK, "suspend", page)
}

func (s *site) suspend(w http.ResponseWriter, r *http.Request) error {
	page, err := s.readClosePage(r)
	if err != nil {
		return err
	}
	wrong := faults{}
	page.Form.checkNotice(wrong)
	if len(wrong) > 0 {
		page.Faults = wrong
		return s.show(w, r, http.StatusUnprocessableEntity, "suspend", page)
	}
	if err := s.Host.Suspend(r.Context(), page.Date.ID, page.Form.Notice); err != nil {
		return err
	}
	return done(w, r, "/fechas", "suspende")
}

// readClosePage returns the question with the answer that came.
func (s *site) readClosePage(r *http.Request) (closePage, error) {
	if err := r.ParseForm(); err != nil {
		return closePage{}, errBadForm
	}
	page, err := s.closePage(r)
	page.Form = readCloseForm(r.PostForm)
	return page, err
}
