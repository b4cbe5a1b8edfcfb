package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/buzon-go/buzon/billingmail"
)

// A problem is an answer that says what went wrong (RFC 9457).
type problem struct {
	Status int    `json:"status"`
	Code   string `json:"code"`   // stable, for programs
	Title  string `json:"title"`  // of the status
	Detail string `json:"detail"` // Spanish, for people

	JobID    int64   `json:"job_id,omitempty"`    // the active job
	SocioIDs []int64 `json:"socio_ids,omitempty"` // who is not in the lote
}

// Error implements error.
func (p problem) Error() string { return p.Code + ": " + p.Detail }

// problems tell the errors of package billingmail in the terms of HTTP.
var problems = []struct {
	err error
	problem
}{
	{ErrUnauthenticated, problem{Status: http.StatusUnauthorized, Code: "no_autenticado", Detail: "Falta la autenticación, o venció."}},
	{ErrForbidden, problem{Status: http.StatusForbidden, Code: "no_autorizado", Detail: "No hay permiso para esta sucursal."}},
	{billingmail.ErrUnknownSchema, problem{Status: http.StatusNotFound, Code: "sucursal_desconocida", Detail: "La sucursal no existe."}},
	{billingmail.ErrUnknownLote, problem{Status: http.StatusNotFound, Code: "lote_desconocido", Detail: "El lote no existe."}},
	{billingmail.ErrSimulation, problem{Status: http.StatusUnprocessableEntity, Code: "lote_en_simulacion", Detail: "El lote es una simulación: no tiene correos para enviar."}},
	{billingmail.ErrInProgress, problem{Status: http.StatusUnprocessableEntity, Code: "lote_en_progreso", Detail: "El lote todavía está en progreso."}},
	{billingmail.ErrNoDetails, problem{Status: http.StatusUnprocessableEntity, Code: "lote_sin_detalles", Detail: "El lote no tiene detalles."}},
	{billingmail.ErrNoRecipients, problem{Status: http.StatusUnprocessableEntity, Code: "lote_sin_destinatarios", Detail: "No hay a quién enviar: ningún socio de la selección tiene una dirección de correo válida."}},
	{billingmail.ErrEmptySelection, problem{Status: http.StatusUnprocessableEntity, Code: "seleccion_vacia", Detail: "La selección de socios está vacía. Para enviar a todo el lote se omite socio_ids."}},
	{billingmail.ErrNotActive, problem{Status: http.StatusConflict, Code: "sin_envio_activo", Detail: "El lote no tiene un envío activo."}},
}

// problemOf returns what an error is in the terms of HTTP. One that a stranger
// has no business to know is an internal error.
func problemOf(err error) problem {
	if p, ok := errors.AsType[problem](err); ok {
		return p
	}
	if active, ok := errors.AsType[*billingmail.ActiveError](err); ok {
		return problem{
			Status: http.StatusConflict, Code: "envio_activo", JobID: active.JobID,
			Detail: fmt.Sprintf("El lote ya tiene un envío activo: el trabajo %d.", active.JobID),
		}
	}
	if selection, ok := errors.AsType[*billingmail.SelectionError](err); ok {
		return problem{
			Status: http.StatusUnprocessableEntity, Code: "socios_fuera_del_lote", SocioIDs: selection.SocioIDs,
			Detail: fmt.Sprintf("%d de los socios pedidos no están en el lote.", selection.HowMany),
		}
	}
	for _, known := range problems {
		if errors.Is(err, known.err) {
			return known.problem
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return problem{Status: http.StatusServiceUnavailable, Code: "tiempo_agotado", Detail: "La base de datos no contestó a tiempo. Conviene probar de nuevo en un momento."}
	}
	return problem{Status: http.StatusInternalServerError, Code: "error_interno", Detail: "Hubo un error interno. El registro del servidor tiene los detalles."}
}

// Keys of log attributes.
const (
	logRequest = "request_id"
	logSchema  = "schema"
	logLote    = "lote_id"
	logError   = "error"
)

// fail answers with what an error is.
func (a *api) fail(w http.ResponseWriter, r *http.Request, c call, err error) {
	a.write(w, r, a.report(w, r, c, err))
}

// report logs what an answer leaves out, and returns what an error is.
func (a *api) report(w http.ResponseWriter, r *http.Request, c call, err error) problem {
	p := problemOf(err)
	log := a.log.With(logRequest, requestID(r.Context()), logSchema, c.schema, logLote, c.loteID, "code", p.Code)
	if p.Status >= http.StatusInternalServerError {
		log.Error("buzon: a request has failed", logError, err)
	} else {
		log.Debug("buzon: a request was refused", logError, err)
	}
	if p.Status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	return p
}

func (a *api) write(w http.ResponseWriter, r *http.Request, p problem) {
	p.Title = http.StatusText(p.Status)
	w.Header().Set("Content-Type", "application/problem+json")
	a.writeJSON(w, r, p.Status, p)
}

// writeJSON renders before the status goes out.
func (a *api) writeJSON(w http.ResponseWriter, r *http.Request, status int, body any) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		a.log.Error("buzon: an answer cannot be encoded", logRequest, requestID(r.Context()), logError, err)
		status = http.StatusInternalServerError
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(status)
	_, _ = w.Write(buffer.Bytes()) // Whoever asked may have gone.
}
