package httpapi_test

import (
	"bufio"
	"encoding/csv"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/httpapi"
)

type started struct {
	JobID        int64 `json:"job_id"`
	EntriesCount int   `json:"entries_count"`
}

func TestNewNamesEveryFault(t *testing.T) {
	t.Parallel()
	_, err := httpapi.New(httpapi.Config{MaxBody: -1})
	for _, want := range []string{"httpapi: ", "Service is nil", "Authorize is nil", "MaxBody is negative"} {
		assert.ErrorContains(t, err, want)
	}
}

// From the POST to the last e-mail, as a program sees it.
func TestResendAndWatch(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", 3)
	answered := h.ask("POST", lotes+"7/reenviar-emails", as, `{"socio_ids": [1, 3]}`)
	require.Equal(t, http.StatusAccepted, answered.status, string(answered.body))
	assert.Equal(t, "emails/progreso", answered.header.Get("Location"))
	var s started
	answered.into(t, &s)
	assert.Equal(t, 2, s.EntriesCount)
	job, err := h.queue.GetJob(t.Context(), s.JobID)
	require.NoError(t, err)
	assert.Equal(t, "clerk of norte", job.CreatedBy)

	var progress struct {
		Total   int
		Activo  bool
		JobID   int64 `json:"job_id"`
		Estados map[string]int
	}
	h.ask("GET", lotes+"7/emails/progreso", as, "").into(t, &progress)
	assert.True(t, progress.Activo)
	assert.Equal(t, s.JobID, progress.JobID)
	assert.Equal(t, map[string]int{"pendiente": 2, "enviado": 0, "error": 0, "omitido": 0}, progress.Estados)

	h.run()
	h.awaitEnd(s.JobID)
	var page struct {
		Data []struct {
			SocioID  int `json:"socio_id"`
			Email    string
			Estado   string
			Intentos int
		}
		Total, Pagina int
		PorPagina     int `json:"por_pagina"`
		Resumen       map[string]int
	}
	h.ask("GET", lotes+"7/emails?estado=enviado&pagina=2&por_pagina=1", as, "").into(t, &page)
	require.Len(t, page.Data, 1)
	assert.Equal(t, 3, page.Data[0].SocioID)
	assert.Equal(t, "socio3@members.example", page.Data[0].Email)
	assert.Equal(t, []int{2, 2, 1, 1}, []int{page.Total, page.Pagina, page.PorPagina, page.Data[0].Intentos})
	assert.Equal(t, map[string]int{"enviado": 2, "error": 0, "omitido": 0}, page.Resumen)

	exported := h.ask("GET", lotes+"7/emails.csv", as, "")
	assert.Equal(t, "text/csv; charset=utf-8", exported.header.Get("Content-Type"))
	records, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(exported.body), "\uFEFF"))).ReadAll()
	require.NoError(t, err)
	require.Len(t, records, 3)
	assert.Equal(t, []string{"1", "socio1@members.example", "enviado", "1"}, records[1][:4])
}

// Every refusal, in the contract's order: the header's form, who asks, the rest
// of the request, what there is.
func TestRefusals(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 1, "simulacion", 1)
	h.addLote("norte", 2, "en_progreso", 1)
	h.addLote("norte", 4, "completado", 0)
	h.exec(`INSERT INTO norte.membresia_facturacion_lote_auditoria VALUES (3, 'completado', '{}', NULL)`)
	h.addLote("norte", 7, "completado", 2)
	h.addLote("norte", 9, "completado", 2)
	h.addLote("sur", 8, "completado", 2)
	require.Equal(t, http.StatusAccepted, h.ask("POST", lotes+"9/reenviar-emails", as, "").status)
	with := func(schema, token string) header {
		return header{"X-Schema": schema, "Authorization": "Bearer " + token}
	}
	big := `{"socio_ids": [` + strings.Repeat("1, ", 400) + `1]}`
	for _, c := range []struct {
		method, path string
		headers      header
		body         string
		status       int
		code         string
	}{
		// The form of the header, before anything else.
		{"POST", "x/reenviar-emails", header{}, big, 400, "schema_requerido"},
		{"POST", "7/reenviar-emails", header{"X-Schema": ""}, "", 400, "schema_requerido"},
		{"POST", "7/reenviar-emails", with("pg_catalog", "all"), "", 400, "schema_invalido"},
		{"GET", "7/emails", with(strings.Repeat("x", 64), "all"), "", 400, "schema_invalido"},
		// Who asks.
		{"POST", "x/reenviar-emails", header{"X-Schema": "norte"}, big, 401, "no_autenticado"},
		{"POST", "x/reenviar-emails", with("sur", "norte"), big, 403, "no_autorizado"},
		{"GET", "7/emails", with("nowhere", "norte"), "", 403, "no_autorizado"},
		{"GET", "7/emails", with("norte", "broken"), "", 500, "error_interno"},
		{"GET", "7/emails", with("norte", "nobody"), "", 500, "error_interno"},
		// The rest of the request.
		{"POST", "x/reenviar-emails", as, "", 400, "id_invalido"},
		{"POST", "0/reenviar-emails", as, "", 400, "id_invalido"},
		{"POST", "-7/reenviar-emails", as, "", 400, "id_invalido"},
		{"POST", "07/reenviar-emails", as, "", 400, "id_invalido"},
		{"POST", "99999999999999999999/reenviar-emails", as, "", 400, "id_invalido"},
		{"POST", "7/reenviar-emails", as, "{", 400, "cuerpo_invalido"},
		{"POST", "7/reenviar-emails", as, "[]", 400, "cuerpo_invalido"},
		{"POST", "7/reenviar-emails", as, "null", 400, "cuerpo_invalido"},
		{"POST", "7/reenviar-emails", as, "{} {}", 400, "cuerpo_invalido"},
		{"POST", "7/reenviar-emails", as, `{"socios": [1]}`, 400, "cuerpo_invalido"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": "1"}`, 400, "socio_ids_invalido"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": null}`, 400, "socio_ids_invalido"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": ["1"]}`, 400, "socio_ids_invalido"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": [1.5]}`, 400, "socio_ids_invalido"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": [1e2]}`, 400, "socio_ids_invalido"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": [0]}`, 400, "socio_ids_invalido"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": [null]}`, 400, "socio_ids_invalido"},
		{"POST", "7/reenviar-emails", as, big, 413, "cuerpo_demasiado_grande"},
		{"GET", "7/emails?estado=perdido", as, "", 400, "estado_invalido"},
		{"GET", "7/emails?estado=", as, "", 400, "estado_invalido"},
		{"GET", "7/emails?pagina=0", as, "", 400, "pagina_invalido"},
		{"GET", "7/emails?pagina=x", as, "", 400, "pagina_invalido"},
		{"GET", "7/emails?por_pagina=201", as, "", 400, "por_pagina_invalido"},
		{"GET", "7/emails?pagina=1&pagina=2", as, "", 400, "consulta_invalida"},
		{"GET", "7/emails?page=1", as, "", 400, "consulta_invalida"},
		{"GET", "7/emails?%zz", as, "", 400, "consulta_invalida"},
		{"GET", "7/emails.csv?estado=x", as, "", 400, "estado_invalido"},
		// What there is.
		{"GET", "7/emails", with("nowhere", "all"), "", 404, "sucursal_desconocida"},
		{"GET", "404/emails", as, "", 404, "lote_desconocido"},
		{"GET", "404/emails.csv", as, "", 404, "lote_desconocido"},
		{"GET", "404/emails/progreso", as, "", 404, "lote_desconocido"},
		{"GET", "4294967296/emails", as, "", 404, "lote_desconocido"},
		{"GET", "8/emails", as, "", 404, "lote_desconocido"},
		{"POST", "404/reenviar-emails", as, "", 404, "lote_desconocido"},
		{"POST", "404/emails/cancelar", as, "", 404, "lote_desconocido"},
		{"POST", "1/reenviar-emails", as, "", 422, "lote_en_simulacion"},
		{"POST", "2/reenviar-emails", as, "", 422, "lote_en_progreso"},
		{"POST", "3/reenviar-emails", as, "", 422, "lote_sin_detalles"},
		{"POST", "4/reenviar-emails", as, "", 422, "lote_sin_destinatarios"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": []}`, 422, "seleccion_vacia"},
		{"POST", "7/reenviar-emails", as, `{"socio_ids": [1, 5]}`, 422, "socios_fuera_del_lote"},
		{"POST", "9/reenviar-emails", as, `{"socio_ids": [5]}`, 422, "socios_fuera_del_lote"},
		{"POST", "9/reenviar-emails", as, "", 409, "envio_activo"},
		{"POST", "7/emails/cancelar", as, "", 409, "sin_envio_activo"},
		{"GET", "7/reenviar-emails", as, "", 405, "metodo_no_permitido"},
		{"DELETE", "7/emails", as, "", 405, "metodo_no_permitido"},
		{"GET", "7/otra", as, "", 404, "ruta_desconocida"},
	} {
		answered := h.ask(c.method, lotes+c.path, c.headers, c.body)
		assert.Equal(t, c.status, answered.status, "%s %s %v: %s", c.method, c.path, c.headers, answered.body)
		assert.Equal(t, c.code, answered.code(t), "%s %s %v", c.method, c.path, c.headers)
		assert.NotContains(t, string(answered.body), "10.0.0.7", "a stranger has no business to know")
	}
	assert.Contains(t, h.logs.String(), "10.0.0.7", "the log has it")
	var n int
	require.NoError(t, h.pool.QueryRow(t.Context(), "SELECT count(*) FROM buzon.outbox_jobs").Scan(&n))
	assert.Equal(t, 1, n, "nothing was started but lote 9")
}

// What a problem names.
func TestProblemsNameWhatTheyMean(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", 2)
	var s started
	h.ask("POST", lotes+"7/reenviar-emails", as, "").into(t, &s)
	var active struct {
		JobID  int64 `json:"job_id"`
		Detail string
	}
	h.ask("POST", lotes+"7/reenviar-emails", as, "").into(t, &active)
	assert.Equal(t, s.JobID, active.JobID)
	var outside struct {
		SocioIDs []int64 `json:"socio_ids"`
	}
	h.ask("POST", lotes+"7/reenviar-emails", as, `{"socio_ids": [9, 1, 5]}`).into(t, &outside)
	assert.Equal(t, []int64{5, 9}, outside.SocioIDs)
	assert.Equal(t, "POST", h.ask("GET", lotes+"7/reenviar-emails", as, "").header.Get("Allow"))
	assert.NotEmpty(t, h.ask("GET", lotes+"7/emails", header{"X-Schema": "norte"}, "").header.Get("WWW-Authenticate"))
}

// Of two at once one starts a job.
func TestTwoPostsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", 50)
	statuses := make(chan int, 6)
	var group sync.WaitGroup
	for range cap(statuses) {
		group.Go(func() { statuses <- h.ask("POST", lotes+"7/reenviar-emails", as, "").status })
	}
	group.Wait()
	close(statuses)
	got := map[int]int{}
	for status := range statuses {
		got[status]++
	}
	assert.Equal(t, map[int]int{http.StatusAccepted: 1, http.StatusConflict: 5}, got)
}

// A stream tells of each change, and ends with the job.
func TestStreamOfEvents(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", 4)
	hold := smtptest.NewHold()
	t.Cleanup(hold.Release)
	require.NoError(t, h.mail.SetRules(smtptest.Rule{At: smtptest.Rcpt, Recipient: "socio3@members.example", Hold: hold}))
	require.Equal(t, http.StatusAccepted, h.ask("POST", lotes+"7/reenviar-emails", as, "").status)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.server.URL+lotes+"7/emails/progreso", nil)
	require.NoError(t, err)
	for name, value := range as {
		request.Header.Set(name, value)
	}
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	h.run()
	var events []string
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, "event: "):
			events = append(events, strings.TrimPrefix(line, "event: "))
		case strings.Contains(line, `"enviado":2`):
			hold.Release()
		}
	}
	require.GreaterOrEqual(t, len(events), 3, "%v", events)
	assert.Equal(t, "progreso", events[0])
	assert.Equal(t, "fin", events[len(events)-1])
}

// Cancelling omits what is not sent, with who did it.
func TestCancel(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", 2)
	h.ask("POST", lotes+"7/reenviar-emails", as, "")
	answered := h.ask("POST", lotes+"7/emails/cancelar", as, "")
	assert.Equal(t, http.StatusAccepted, answered.status, string(answered.body))
	var page struct{ Resumen map[string]int }
	list := h.ask("GET", lotes+"7/emails?estado=omitido", as, "")
	list.into(t, &page)
	assert.Equal(t, 2, page.Resumen["omitido"])
	assert.Contains(t, string(list.body), "cancelado por clerk of norte")
}

// Requests have ids, which the log knows; a client's own is kept when it can be
// logged.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	own := h.ask("GET", lotes+"7/emails", header{"X-Request-Id": "abc-1"}, "")
	assert.Equal(t, "abc-1", own.header.Get("X-Request-Id"))
	assert.Contains(t, h.logs.String(), `"request_id":"abc-1"`)
	for _, bad := range []string{"", "a b", strings.Repeat("x", 200), `"}`} {
		id := h.ask("GET", lotes+"7/emails", header{"X-Request-Id": bad}, "").header.Get("X-Request-Id")
		assert.NotEmpty(t, id)
		assert.NotEqual(t, bad, id)
	}
}

// A spreadsheet must not take an address for a formula.
func TestExportIsHarmless(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`INSERT INTO norte.membresia_facturacion_lote_auditoria VALUES (7, 'x', '{}', '{"gruposExitosos": [{"socio_id": 1, "email": "=cmd|a@b.example"}, {"socio_id": 2, "email": "a@b.example"}]}')`)
	require.Equal(t, http.StatusAccepted, h.ask("POST", lotes+"7/reenviar-emails", as, "").status)
	assert.Contains(t, string(h.ask("GET", lotes+"7/emails.csv", as, "").body), "'=cmd|a@b.example")
}
