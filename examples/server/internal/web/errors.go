package web

import (
	"errors"
	"net/http"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/examples/server/internal/host"
	"github.com/buzon-go/buzon/notify"
)

// Faults of a request.
var (
	errNoPage   = errors.New("web: no such page")
	errBadForm  = errors.New("web: the form cannot be read")
	errNoReason = errors.New("web: who and why are required")
	errCrossed  = errors.New("web: the request comes from another site")
)

// An answer is what a stranger is told about an error.
type answer struct {
	err    error
	status int
	text   string
}

// answers is the one table from errors to answers.
var answers = []answer{
	{errNoPage, http.StatusNotFound, "Esa página no existe."},
	{errBadForm, http.StatusBadRequest, "El formulario no se pudo leer."},
	{errNoReason, http.StatusUnprocessableEntity, "Falta decir quién lo decide, o por qué."},
	{errCrossed, http.StatusForbidden, "El pedido viene de otro sitio."},
	{host.ErrNotPending, http.StatusConflict, "Ese pedido ya no está pendiente."},
	{host.ErrNotPayable, http.StatusConflict, "Esa compra no se puede pagar: no está pendiente, o su fecha no se hace."},
	{host.ErrAnnulled, http.StatusConflict, "Esa compra está anulada."},
	{host.ErrNotScheduled, http.StatusConflict, "Esa fecha ya se reprogramó o se suspendió."},
	{notify.ErrNotFound, http.StatusNotFound, "Eso no existe."},
	{delivery.ErrNotFound, http.StatusNotFound, "Ese trabajo no existe, o ya no se guarda."},
	{delivery.ErrFinished, http.StatusConflict, "Ese trabajo ya terminó."},
	{delivery.ErrRunning, http.StatusConflict, "Ese trabajo está en curso."},
	{delivery.ErrDuplicate, http.StatusConflict, "Ya hay otro trabajo activo con la misma clave."},
	{mail.ErrNotFound, http.StatusNotFound, "Esa entrega no existe."},
	{mail.ErrNotOnHold, http.StatusConflict, "El resultado de esa entrega ya se conoce."},
}

// answerTo keeps the cause of what is not in the table from strangers.
func answerTo(err error) answer {
	for _, a := range answers {
		if errors.Is(err, a.err) {
			return a
		}
	}
	return answer{err, http.StatusInternalServerError, "Algo falló de nuestro lado. El registro del servidor dice qué."}
}

// fail shows an error as a page.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	a := answerTo(err)
	if a.status == http.StatusInternalServerError && r.Context().Err() == nil {
		s.Logger.ErrorContext(r.Context(), "sample server: a request failed", "method", r.Method, "route", r.Pattern, "error", err)
	}
	if err := s.show(w, r, a.status, "error", errorPage{Status: a.status, Text: a.text}); err != nil {
		s.Logger.ErrorContext(r.Context(), "sample server: the page of an error failed", "error", err)
		http.Error(w, a.text, a.status)
	}
}

type errorPage struct {
	Status int
	Text   string
}

func (s *site) notFound(http.ResponseWriter, *http.Request) error { return errNoPage }
