package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/buzon-go/buzon/billingmail"
)

// progressBody is how far a lote has come.
type progressBody struct {
	Total     int            `json:"total"`
	Estados   map[string]int `json:"estados"`
	Activo    bool           `json:"activo"`
	JobID     *int64         `json:"job_id"`
	JobEstado *string        `json:"job_estado"`
	// Of a job that waits for a retry.
	Reintento       int        `json:"reintento"`
	MaxReintentos   int        `json:"max_reintentos"`
	ProximoReintent *time.Time `json:"proximo_reintento"`
	Cancelando      bool       `json:"cancelando"`

	PorSegundo       float64  `json:"por_segundo"`
	SegundosRestante *float64 `json:"segundos_restantes"`
}

func progressOf(p billingmail.Progress) progressBody {
	body := progressBody{
		Total: p.Resumen.Total(), Activo: p.Active, JobID: nilIfZero(p.JobID), JobEstado: nilIfZero(string(p.State)),
		Estados: map[string]int{
			"pendiente": p.Resumen.Pendiente, "enviado": p.Resumen.Enviado, "error": p.Resumen.Error, "omitido": p.Resumen.Omitido,
		},
		Reintento: p.RetryCount, MaxReintentos: p.MaxRetries, ProximoReintent: nilIfZero(p.NextRetryAt), Cancelando: p.Cancelling,
		PorSegundo: p.PerSecond,
	}
	if p.Remaining > 0 {
		seconds := p.Remaining.Seconds()
		body.SegundosRestante = &seconds
	}
	return body
}

const eventStream = "text/event-stream"

func (a *api) progress(w http.ResponseWriter, r *http.Request, c call) error {
	progress, err := a.Service.Progress(r.Context(), c.schema, c.loteID)
	if err != nil {
		return err
	}
	if strings.Contains(r.Header.Get("Accept"), eventStream) {
		a.stream(w, r, c, progress)
		return nil
	}
	a.writeJSON(w, r, http.StatusOK, progressOf(progress))
	return nil
}

// Of the stream of events.
const (
	streamEvery = time.Second
	streamLimit = 30 * time.Minute // Whoever is still there asks again.
	streamWrite = 10 * time.Second // for somebody who does not read
)

// stream sends an event whenever something has changed, and ends with the job.
func (a *api) stream(w http.ResponseWriter, r *http.Request, c call, progress billingmail.Progress) {
	w.Header().Set("Content-Type", eventStream)
	w.Header().Set("X-Accel-Buffering", "no")
	out := http.NewResponseController(w)
	ticker := time.NewTicker(streamEvery)
	defer ticker.Stop()
	limit := time.After(streamLimit)
	var last string
	for {
		event, err := json.Marshal(progressOf(progress))
		if err != nil {
			return
		}
		name := "progreso"
		if !progress.Active {
			name = "fin"
		}
		text := fmt.Sprintf("event: %s\ndata: %s\n\n", name, event)
		if text == last {
			text = ": \n\n" // so that a connection nobody reads is noticed
		} else {
			last = text
		}
		deadline := out.SetWriteDeadline(time.Now().Add(streamWrite))
		if _, err := w.Write([]byte(text)); err != nil || deadline != nil && !errors.Is(deadline, http.ErrNotSupported) {
			return
		}
		if err := out.Flush(); err != nil || !progress.Active {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-limit:
			return
		case <-ticker.C:
		}
		if progress, err = a.Service.Progress(r.Context(), c.schema, c.loteID); err != nil {
			if r.Context().Err() == nil {
				a.log.Error("buzon: a stream of events broke off", logRequest, requestID(r.Context()), logSchema, c.schema, logLote, c.loteID, logError, err)
			}
			return
		}
	}
}
