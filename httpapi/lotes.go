package httpapi

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/buzon-go/buzon/billingmail"
)

func (a *api) resend(w http.ResponseWriter, r *http.Request, c call) error {
	body, err := a.readBody(w, r)
	if err != nil {
		return err
	}
	started, err := a.Service.Resend(r.Context(), billingmail.ResendRequest{
		Schema: c.schema, LoteID: c.loteID, SocioIDs: body.SocioIDs, RequestedBy: c.principal.Name,
	})
	if err != nil {
		return err
	}
	a.log.Info("buzon: a lote is being sent", logRequest, requestID(r.Context()), logSchema, c.schema, logLote, c.loteID,
		"job_id", started.JobID, "entries", started.EntriesCount, "by", c.principal.Name)
	w.Header().Set("Location", "emails/progreso") // beside this one, whatever the handler is mounted under
	a.writeJSON(w, r, http.StatusAccepted, struct {
		JobID        int64 `json:"job_id"`
		EntriesCount int   `json:"entries_count"`
	}{started.JobID, started.EntriesCount})
	return nil
}

// A row is an entry, by the names of the table's columns.
type row struct {
	ID            int64      `json:"id"`
	LoteID        int64      `json:"lote_id"`
	SocioID       int64      `json:"socio_id"`
	Email         *string    `json:"email"`
	Estado        string     `json:"estado"`
	Intentos      int        `json:"intentos"`
	UltimoIntento *time.Time `json:"ultimo_intento"`
	ErrorDetalle  *string    `json:"error_detalle"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	JobID         *int64     `json:"job_id"`
	Reintentable  *bool      `json:"reintentable"`
}

func rowOf(e billingmail.EmailDetalle) row {
	return row{
		ID: e.ID, LoteID: e.LoteID, SocioID: e.SocioID, Email: nilIfZero(e.Email), Estado: string(e.Estado), Intentos: e.Intentos,
		UltimoIntento: nilIfZero(e.UltimoIntento), ErrorDetalle: nilIfZero(e.ErrorDetalle), CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt,
		JobID: nilIfZero(e.JobID), Reintentable: e.Reintentable,
	}
}

func nilIfZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// maxPage keeps offsets within what PostgreSQL takes.
const maxPage = 10_000_000

func (a *api) emails(w http.ResponseWriter, r *http.Request, c call) error {
	query, err := readQuery(r.URL.RawQuery, "estado", "pagina", "por_pagina")
	if err != nil {
		return err
	}
	request := billingmail.ListRequest{Schema: c.schema, LoteID: c.loteID}
	if request.Estado, err = readEstado(query); err != nil {
		return err
	}
	if request.Page, err = readNumber(query, "pagina", 1, maxPage); err != nil {
		return err
	}
	if request.PerPage, err = readNumber(query, "por_pagina", billingmail.DefaultPerPage, billingmail.MaxPerPage); err != nil {
		return err
	}
	list, err := a.Service.List(r.Context(), request)
	if err != nil {
		return err
	}
	rows := make([]row, len(list.Entries))
	for i, entry := range list.Entries {
		rows[i] = rowOf(entry)
	}
	a.writeJSON(w, r, http.StatusOK, struct {
		Data    []row          `json:"data"`
		Total   int            `json:"total"`
		Page    int            `json:"pagina"`
		PerPage int            `json:"por_pagina"`
		Resumen map[string]int `json:"resumen"`
	}{rows, list.Total, list.Page, list.PerPage, map[string]int{
		"enviado": list.Resumen.Enviado, "error": list.Resumen.Error, "omitido": list.Resumen.Omitido,
	}})
	return nil
}

func (a *api) cancel(w http.ResponseWriter, r *http.Request, c call) error {
	jobID, ended, err := a.Service.Cancel(r.Context(), c.schema, c.loteID, c.principal.Name)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "progreso")
	a.writeJSON(w, r, http.StatusAccepted, struct {
		JobID int64 `json:"job_id"`
		Ended bool  `json:"terminado"`
	}{jobID, ended})
	return nil
}

var csvHeader = []string{"socio_id", "email", "estado", "intentos", "ultimo_intento", "error_detalle", "job_id", "created_at", "updated_at"}

// export streams: what goes wrong after the first line can only break off.
func (a *api) export(w http.ResponseWriter, r *http.Request, c call) error {
	query, err := readQuery(r.URL.RawQuery, "estado")
	if err != nil {
		return err
	}
	estado, err := readEstado(query)
	if err != nil {
		return err
	}
	var out *csv.Writer
	begin := func() {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="lote-%d-emails.csv"`, c.loteID))
		_, _ = w.Write([]byte("\uFEFF")) // Spreadsheets take it for something else than UTF-8 without.
		out = csv.NewWriter(w)
		out.UseCRLF = true
		_ = out.Write(csvHeader)
	}
	for entry, err := range a.Service.Export(r.Context(), c.schema, c.loteID, estado) {
		if err != nil && out == nil {
			return err
		}
		if err != nil {
			a.log.Error("buzon: an export broke off", logRequest, requestID(r.Context()), logSchema, c.schema, logLote, c.loteID, logError, err)
			panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
		}
		if out == nil {
			begin()
		}
		if err := out.Write(record(entry)); err != nil {
			return nil // Whoever asked has gone.
		}
	}
	if out == nil {
		begin()
	}
	out.Flush()
	return nil
}

func record(e billingmail.EmailDetalle) []string {
	last, job := "", ""
	if !e.UltimoIntento.IsZero() {
		last = e.UltimoIntento.Format(time.RFC3339)
	}
	if e.JobID != 0 {
		job = strconv.FormatInt(e.JobID, 10)
	}
	return []string{
		strconv.FormatInt(e.SocioID, 10), harmless(e.Email), string(e.Estado), strconv.Itoa(e.Intentos), last, harmless(e.ErrorDetalle),
		job, e.CreatedAt.Format(time.RFC3339), e.UpdatedAt.Format(time.RFC3339),
	}
}

// harmless keeps spreadsheets from taking a text for a formula.
func harmless(text string) string {
	if text != "" && (text[0] == '=' || text[0] == '+' || text[0] == '-' || text[0] == '@' || text[0] == '\t' || text[0] == '\r') {
		return "'" + text
	}
	return text
}
