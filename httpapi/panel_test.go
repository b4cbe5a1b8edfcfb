package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/httpapi"
	"github.com/buzon-go/buzon/migrations"
)

// A panelHouse is a house whose panel is mounted under a prefix, for people with
// a session in a cookie.
type panelHouse struct {
	*house
	url   string       // of the panel, with a slash at its end
	login string       // where a browser gets a session for all schemas
	asked atomic.Int32 // how often Authorize was
}

func newPanelHouse(t testing.TB) *panelHouse {
	t.Helper()
	h := &panelHouse{house: newHouse(t)}
	handler, err := httpapi.New(httpapi.Config{
		Service: h.service, Authorize: h.bySession, TimeZone: time.FixedZone("", -3*3600),
		MaxBody: 1000, Logger: slog.New(slog.NewJSONHandler(h.logs, nil)),
	})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.Handle("/app/v1/", http.StripPrefix("/app/v1", handler))
	mux.HandleFunc("GET /entrar", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: session, Value: "all", Path: "/app/"})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	h.login = server.URL + "/entrar"
	h.url = server.URL + "/app/v1/mod-membresia/panel/"
	return h
}

const session = "session"

// bySession knows a session for each schema, and one for all of them.
func (h *panelHouse) bySession(r *http.Request, schema string) (httpapi.Principal, error) {
	h.asked.Add(1)
	cookie, err := r.Cookie(session)
	switch {
	case err != nil:
		return httpapi.Principal{}, httpapi.ErrUnauthenticated
	case cookie.Value != "all" && cookie.Value != schema:
		return httpapi.Principal{}, httpapi.ErrForbidden
	}
	return httpapi.Principal{Name: "Ana <clerk>"}, nil
}

// visit asks for a page as a browser with a session for all schemas does,
// without following where it leads.
func (h *panelHouse) visit(method, path string, form url.Values, headers header) answer {
	h.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	address := path
	if !strings.HasPrefix(path, "http") {
		address = h.url + path
	}
	request, err := http.NewRequestWithContext(h.t.Context(), method, address, body)
	require.NoError(h.t, err)
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	request.AddCookie(&http.Cookie{Name: session, Value: "all"})
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(h.t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(h.t, err)
	return answer{response.StatusCode, response.Header, content}
}

func (h *panelHouse) page(path string) string {
	h.t.Helper()
	got := h.visit("GET", path, nil, nil)
	require.Equal(h.t, http.StatusOK, got.status, string(got.body))
	return words(got)
}

var spaces = regexp.MustCompile(`\s+`)

// words is a page's text.
func words(a answer) string {
	var text strings.Builder
	tokens := html.NewTokenizer(strings.NewReader(string(a.body)))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.TrimSpace(spaces.ReplaceAllString(text.String(), " "))
		case html.TextToken:
			text.Write(tokens.Text())
			text.WriteByte(' ')
		}
	}
}

// addresses returns where a page's elements lead.
func addresses(a answer) (found []string) {
	tokens := html.NewTokenizer(strings.NewReader(string(a.body)))
	for tokens.Next() != html.ErrorToken {
		for _, attribute := range tokens.Token().Attr {
			switch attribute.Key {
			case "href", "src", "data-self", "data-progress":
				if !strings.HasPrefix(attribute.Val, "#") {
					found = append(found, attribute.Val)
				}
			}
		}
	}
	return found
}

// record writes an entry as an earlier job left it.
func (h *panelHouse) record(socio int, estado, detail string) {
	h.t.Helper()
	h.exec(`INSERT INTO norte.membresia_facturacion_email_detalle (lote_id, socio_id, email, estado, intentos, ultimo_intento, error_detalle)
		VALUES (7, $1::integer, 'socio' || $1::integer || '@members.example', $2, 1, '2026-03-19 18:04:05Z', NULLIF($3, ''))`, socio, estado, detail)
}

func (h *panelHouse) estado(socio int) (estado string) {
	h.t.Helper()
	require.NoError(h.t, h.pool.QueryRow(h.t.Context(),
		"SELECT estado FROM norte.membresia_facturacion_email_detalle WHERE lote_id = 7 AND socio_id = $1", socio).Scan(&estado))
	return estado
}

func (h *panelHouse) jobs() (n int) {
	h.t.Helper()
	require.NoError(h.t, h.pool.QueryRow(h.t.Context(), "SELECT count(*) FROM buzon.outbox_jobs").Scan(&n))
	return n
}

// What the person who runs billing sees.
func TestPanelShowsALote(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 3)
	empty := h.page("norte/lotes/7")
	assert.Contains(t, empty, "Todavía no se envió ningún correo de este lote.")
	assert.Contains(t, empty, "Enviar todo el lote")
	h.record(1, "enviado", "")
	h.record(2, "error", "la casilla está llena")
	h.record(3, "omitido", "sin dirección de correo")
	page := h.page("norte/lotes/7")
	for _, want := range []string{
		"Lote 7", "norte", "No hay ningún envío en curso.", "3 de 3", "Todos 3", "Pendientes 0", "Enviados 1", "Con error 1", "Omitidos 1",
		"socio1@members.example", "la casilla está llena", "19/03/2026 15:04", "Reenviar a los seleccionados",
		"Reenviar a todos los que fallaron (1)", "Reenviar todo el lote", "Descargar todos (CSV)", "UTC−3",
	} {
		assert.Contains(t, page, want)
	}
	assert.NotContains(t, page, "Cancelar el envío")
	failed := h.page("norte/lotes/7?estado=error&pagina=1&socio=")
	assert.Contains(t, failed, "socio2@")
	assert.NotContains(t, failed, "socio1@")
	one := h.page("norte/lotes/7?socio=+003+")
	assert.Contains(t, one, "socio3@")
	assert.NotContains(t, one, "socio1@")
	assert.Contains(t, h.page("norte/lotes/7?estado=error&socio=3"), "No hay un correo del socio 3 entre estos.")
}

func TestPanelPages(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 120)
	h.exec(`INSERT INTO norte.membresia_facturacion_email_detalle (lote_id, socio_id, estado) SELECT 7, n, 'error' FROM generate_series(1, 120) n`)
	for path, want := range map[string][]string{
		"norte/lotes/7?estado=error":          {"../../norte/lotes/7?estado=error&pagina=2"},
		"norte/lotes/7?estado=error&pagina=2": {"../../norte/lotes/7?estado=error", "../../norte/lotes/7?estado=error&pagina=3"},
		"norte/lotes/7?estado=error&pagina=3": {"../../norte/lotes/7?estado=error&pagina=2"},
		"norte/lotes/7?pagina=99":             {"../../norte/lotes/7?pagina=3"},
	} {
		got := h.visit("GET", path, nil, nil)
		assert.Subset(t, addresses(got), want, path)
		assert.Contains(t, words(got), "de 3", path)
	}
	assert.NotContains(t, h.page("norte/lotes/7?socio=70"), "Siguiente")
}

// While a job is active the page says so, and reloads itself where there is no
// script.
func TestPanelShowsAJob(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 3)
	h.record(1, "enviado", "")
	const reload = `<noscript><meta http-equiv="refresh" content="5; url=../../norte/lotes/7?estado=pendiente"></noscript>`
	assert.NotContains(t, string(h.visit("GET", "norte/lotes/7?estado=pendiente", nil, nil).body), "noscript")
	require.Equal(t, http.StatusSeeOther, h.visit("POST", "norte/lotes/7/reenviar", url.Values{"todos": {"todos"}}, nil).status)
	assert.Contains(t, string(h.visit("GET", "norte/lotes/7?estado=pendiente&aviso=enviado", nil, nil).body), reload, "without the notice")
	waiting := h.page("norte/lotes/7?aviso=enviado")
	for _, want := range []string{"El envío empezó.", "El envío está en la cola", "0 de 3", "Lo pidió Ana <clerk>.", "Cancelar el envío", "no se puede empezar otro"} {
		assert.Contains(t, waiting, want)
	}
	assert.NotContains(t, waiting, "Reenviar")
}

// A retry is announced, with the time in the panel's zone.
func TestPanelAnnouncesTheRetry(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 2)
	require.NoError(t, h.mail.SetRules(smtptest.Rule{At: smtptest.Rcpt, Reply: smtptest.Reply{Code: 451, Text: "later"}}))
	require.Equal(t, http.StatusSeeOther, h.visit("POST", "norte/lotes/7/reenviar", url.Values{"todos": {"todos"}}, nil).status)
	h.run()
	var due time.Time
	var retries int
	require.Eventually(t, func() bool {
		err := h.pool.QueryRow(t.Context(), "SELECT next_retry_at, max_retries FROM buzon.outbox_jobs WHERE state = 'pending' AND retry_count = 1").Scan(&due, &retries)
		return err == nil
	}, patience, tick)
	page := h.page("norte/lotes/7")
	assert.Contains(t, page, due.In(time.FixedZone("", -3*3600)).Format("15:04")+fmt.Sprintf(", intento 2 de %d.", retries+1))
	assert.Contains(t, page, "Con error 2")
}

// A confirmation says how many people get an e-mail, and starts nothing.
func TestPanelAsksBeforeItSends(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 4)
	h.exec(`UPDATE norte.membresia_facturacion_lote_auditoria SET detalles = jsonb_set(detalles, '{gruposExitosos,3,email}', '""')`)
	assert.Contains(t, h.page("norte/lotes/7?confirmar=todos"), "Se envía un correo a 3 personas. Sí, enviar 3 correos", "the fourth has no address")
	h.record(1, "enviado", "")
	h.record(2, "error", "x")
	h.record(3, "error", "x")
	assert.Contains(t, h.page("norte/lotes/7?confirmar=error"), "Se envía un correo a 2 personas. Sí, enviar 2 correos")
	selected := h.visit("GET", "norte/lotes/7?confirmar=seleccion&socio_ids=3&socio_ids=1&socio_ids=3", nil, nil)
	assert.Contains(t, words(selected), "Se envía un correo a 2 personas. Socios 1, 3.")
	assert.Contains(t, string(selected.body), `<input type="hidden" name="socio_ids" value="3">`)
	assert.Contains(t, h.page("norte/lotes/7?confirmar=seleccion&socio_ids=3&socio_ids=4"), "Se envía un correo a 1 persona. Socios 3, 4. Sí, enviar 1 correo Volver sin enviar")
	assert.Contains(t, h.page("norte/lotes/7?confirmar=todos"), "Se envía un correo a 3 personas. 1 persona ya lo recibió, y lo recibe otra vez.")
	assert.Zero(t, h.jobs())
}

// Each way to ask for a resend reaches whom it names, and nobody else.
func TestPanelResends(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		form url.Values
		want []string // estados of the members 1 to 3
	}{
		"selected":   {url.Values{"socio_ids": {"3", "1"}}, []string{"pendiente", "error", "pendiente"}},
		"all failed": {url.Values{"todos": {"error"}}, []string{"enviado", "pendiente", "pendiente"}},
		"everybody":  {url.Values{"todos": {"todos"}}, []string{"pendiente", "pendiente", "pendiente"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newPanelHouse(t)
			h.addLote("norte", 7, "completado", 3)
			h.record(1, "enviado", "")
			h.record(2, "error", "x")
			h.record(3, "error", "x")
			got := h.visit("POST", "norte/lotes/7/reenviar", c.form, header{"Sec-Fetch-Site": "same-origin"})
			assert.Equal(t, http.StatusSeeOther, got.status, string(got.body))
			assert.Equal(t, "../../../norte/lotes/7?aviso=enviado", got.header.Get("Location"))
			assert.Equal(t, c.want, []string{h.estado(1), h.estado(2), h.estado(3)})
			var by string
			require.NoError(t, h.pool.QueryRow(t.Context(), "SELECT created_by FROM buzon.outbox_jobs").Scan(&by))
			assert.Equal(t, "Ana <clerk>", by)
		})
	}
}

// What cannot be sent is said before it is asked.
func TestPanelAsksOnlyWhatCanBeDone(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 3)
	h.addLote("norte", 1, "simulacion", 1)
	for path, said := range map[string]string{
		"norte/lotes/7?confirmar=error":                 "No hay correos con error",
		"norte/lotes/7?confirmar=seleccion":             "hay que marcar al menos uno",
		"norte/lotes/7?confirmar=seleccion&socio_ids=9": "1 de los socios pedidos no están en el lote. Socio 9.",
		"norte/lotes/1?confirmar=todos":                 "El lote es una simulación",
	} {
		got := h.visit("GET", path, nil, nil)
		assert.Equal(t, http.StatusUnprocessableEntity, got.status, path)
		assert.Contains(t, words(got), said, path)
	}
}

// What cannot be done is said on the lote's page, with the answer's status.
func TestPanelSaysWhyNot(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 3)
	h.addLote("norte", 1, "simulacion", 1)
	check := func(status int, said, path string, form url.Values) {
		t.Helper()
		got := h.visit("POST", path, form, nil)
		assert.Equal(t, status, got.status)
		assert.Contains(t, words(got), said)
		assert.Contains(t, string(got.body), `role="alert"`)
		assert.Contains(t, addresses(got), "../../../norte/lotes/"+strings.Split(path, "/")[2])
	}
	all := url.Values{"todos": {"todos"}}
	check(http.StatusConflict, "El lote no tiene un envío activo.", "norte/lotes/7/cancelar", url.Values{})
	check(http.StatusUnprocessableEntity, "El lote es una simulación", "norte/lotes/1/reenviar", all)
	check(http.StatusUnprocessableEntity, "hay que marcar al menos uno", "norte/lotes/7/reenviar", url.Values{})
	check(http.StatusUnprocessableEntity, "No hay correos con error", "norte/lotes/7/reenviar", url.Values{"todos": {"error"}})
	check(http.StatusUnprocessableEntity, "2 de los socios pedidos no están en el lote. Socios 8, 9.", "norte/lotes/7/reenviar", url.Values{"socio_ids": {"9", "1", "8"}})
	assert.Zero(t, h.jobs())
	require.Equal(t, http.StatusSeeOther, h.visit("POST", "norte/lotes/7/reenviar", all, nil).status)
	check(http.StatusConflict, "El lote ya tiene un envío activo: el trabajo 1.", "norte/lotes/7/reenviar", all)
	assert.Equal(t, 1, h.jobs())
}

// So many have failed that the whole lote is the better selection.
func TestPanelBoundsAllFailed(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 1)
	h.exec(`INSERT INTO norte.membresia_facturacion_email_detalle (lote_id, socio_id, estado) SELECT 7, n, 'error' FROM generate_series(1, 100001) n`)
	got := h.visit("POST", "norte/lotes/7/reenviar", url.Values{"todos": {"error"}}, nil)
	assert.Equal(t, http.StatusUnprocessableEntity, got.status)
	assert.Contains(t, words(got), "Fallaron más de 100.000 correos: conviene reenviar todo el lote.")
}

func TestPanelCancels(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 2)
	h.visit("POST", "norte/lotes/7/reenviar", url.Values{"todos": {"todos"}}, nil)
	got := h.visit("POST", "norte/lotes/7/cancelar", url.Values{}, nil)
	assert.Equal(t, http.StatusSeeOther, got.status)
	assert.Equal(t, "../../../norte/lotes/7?aviso=cancelado", got.header.Get("Location"))
	page := h.page("norte/lotes/7?aviso=cancelado")
	assert.Contains(t, page, "El envío se canceló.")
	assert.Contains(t, page, "cancelado por Ana <clerk>")
}

// Every refusal is a page in Spanish, in the API's order: the schema's form,
// where the form comes from, who asks, the rest of the request, what there is.
func TestPanelRefusals(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 2)
	nobody, stranger := header{"Cookie": "a=b"}, header{"Cookie": session + "=sur"}
	all := url.Values{"todos": {"todos"}}
	big := url.Values{"socio_ids": strings.Split(strings.Repeat("1,", 400), ",")}
	for _, c := range []struct {
		method, path string
		headers      header
		form         url.Values
		status       int
		said         string
	}{
		{"GET", "pg_catalog/lotes/x", nobody, nil, 400, "no tiene el nombre de una sucursal"},
		{"GET", strings.Repeat("x", 64) + "/lotes/7", nobody, nil, 400, "no tiene el nombre de una sucursal"},
		{"GET", "a%00b/lotes/7", nobody, nil, 400, "no tiene el nombre de una sucursal"},
		{"GET", "norte/lotes/x", nobody, nil, 401, "Falta la autenticación"},
		{"GET", "norte/lotes/x", stranger, nil, 403, "No hay permiso"},
		{"GET", "nowhere/lotes/7", stranger, nil, 403, "No hay permiso"},
		{"POST", "norte/lotes/7/reenviar", stranger, big, 403, "No hay permiso"},
		{"PUT", "norte/lotes/7", nobody, nil, 401, "Falta la autenticación"},
		{"GET", "norte/lotes/x", nil, nil, 400, "número entero positivo"},
		{"GET", "norte/lotes/07", nil, nil, 400, "número entero positivo"},
		{"GET", "norte/lotes/7?estado=perdido", nil, nil, 400, "estado tiene que ser"},
		{"GET", "norte/lotes/7?pagina=0", nil, nil, 400, "pagina tiene que ser"},
		{"GET", "norte/lotes/7?socio=ana", nil, nil, 400, "socio tiene que ser"},
		{"GET", "norte/lotes/7?socio=2147483648", nil, nil, 400, "socio tiene que ser"},
		{"GET", "norte/lotes/7?page=1", nil, nil, 400, "No existe el parámetro"},
		{"GET", "norte/lotes/7?%zz", nil, nil, 400, "no se puede leer"},
		{"GET", "norte/lotes/7?confirmar=ya", nil, nil, 400, "confirmar tiene que ser"},
		{"GET", "norte/lotes/7?confirmar=seleccion&socio_ids=x", nil, nil, 400, "socio_ids tiene que ser"},
		{"GET", "norte/lotes/7/emails.csv?estado=x", nil, nil, 400, "estado tiene que ser"},
		{"POST", "norte/lotes/7/reenviar", nil, url.Values{"todos": {"nadie"}}, 400, "todos=error o todos=todos"},
		{"POST", "norte/lotes/7/reenviar", nil, url.Values{"todos": {"todos"}, "socio_ids": {"1"}}, 400, "todos=error o todos=todos"},
		{"POST", "norte/lotes/7/reenviar", nil, url.Values{"todos": {"todos", "error"}}, 400, "todos=error o todos=todos"},
		{"POST", "norte/lotes/7/reenviar", nil, url.Values{"socio_ids": {"-1"}}, 400, "número entero positivo"},
		{"POST", "norte/lotes/7/reenviar", nil, url.Values{"otro": {"1"}}, 400, "no tiene el campo"},
		{"POST", "norte/lotes/7/cancelar", nil, url.Values{"otro": {"1"}}, 400, "no tiene el campo"},
		{"POST", "norte/lotes/7/reenviar", nil, big, 413, "demasiado grande"},
		{"POST", "norte/lotes/7/reenviar", nil, nil, 415, "solo formularios"},
		{"POST", "norte/lotes/7/reenviar", header{"Content-Type": "text/plain"}, all, 415, "solo formularios"},
		{"POST", "norte/lotes/7/cancelar", header{"Content-Type": "application/json"}, all, 415, "solo formularios"},
		{"GET", "nowhere/lotes/7", nil, nil, 404, "La sucursal no existe"},
		{"GET", "norte/lotes/404", nil, nil, 404, "El lote no existe"},
		{"GET", "norte/lotes/404?confirmar=todos", nil, nil, 404, "El lote no existe"},
		{"GET", "norte/lotes/404/emails.csv", nil, nil, 404, "El lote no existe"},
		{"POST", "norte/lotes/404/reenviar", nil, all, 404, "El lote no existe"},
		{"POST", "norte/lotes/404/cancelar", nil, url.Values{}, 404, "El lote no existe"},
		{"GET", "norte/lotes/7/reenviar", nil, nil, 405, "solo el método POST"},
		{"DELETE", "norte/lotes/7", nil, nil, 405, "solo el método GET"},
		{"GET", "norte/lotes/7/otra", nil, nil, 404, "Esta página no existe"},
		{"GET", "", nobody, nil, 404, "Esta página no existe"},
	} {
		got := h.visit(c.method, c.path, c.form, c.headers)
		assert.Equal(t, c.status, got.status, "%s %s: %s", c.method, c.path, got.body)
		assert.Equal(t, "text/html; charset=utf-8", got.header.Get("Content-Type"), c.path)
		assert.Contains(t, string(got.body), `<html lang="es">`, c.path)
		assert.Contains(t, words(got), c.said, "%s %s", c.method, c.path)
		assert.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'", c.path)
	}
	assert.Equal(t, "POST", h.visit("GET", "norte/lotes/7/reenviar", nil, nil).header.Get("Allow"))
	assert.Zero(t, h.jobs())
}

// A program that follows the progress is answered as one.
func TestPanelProgress(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 2)
	h.record(1, "enviado", "")
	var progress struct {
		Total  int
		Activo bool
	}
	h.visit("GET", "norte/lotes/7/progreso", nil, nil).into(t, &progress)
	assert.Equal(t, 1, progress.Total)
	stream := h.visit("GET", "norte/lotes/7/progreso", nil, header{"Accept": "text/event-stream"})
	assert.Equal(t, "text/event-stream", stream.header.Get("Content-Type"))
	assert.True(t, strings.HasPrefix(string(stream.body), "event: fin\n"), string(stream.body))
	assert.Equal(t, "lote_desconocido", h.visit("GET", "norte/lotes/404/progreso", nil, nil).code(t))
	assert.Equal(t, "no_autenticado", h.visit("GET", "norte/lotes/7/progreso", nil, header{"Cookie": "a=b"}).code(t))
	assert.Equal(t, "metodo_no_permitido", h.visit("PUT", "norte/lotes/7/progreso", nil, nil).code(t))
}

func TestPanelExports(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 2)
	h.record(1, "enviado", "")
	h.record(2, "error", "x")
	got := h.visit("GET", "norte/lotes/7/emails.csv?estado=error", nil, nil)
	assert.Equal(t, http.StatusOK, got.status)
	assert.Equal(t, `attachment; filename="lote-7-emails.csv"`, got.header.Get("Content-Disposition"))
	assert.Equal(t, 2, strings.Count(string(got.body), "\r\n"), string(got.body))
}

// A form of another site sends nothing, whoever's session it comes with, and the
// host is not even asked.
func TestPanelRefusesOtherSites(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 2)
	for _, headers := range []header{
		{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"},
	} {
		for _, path := range []string{"reenviar", "cancelar"} {
			got := h.visit("POST", "norte/lotes/7/"+path, url.Values{"todos": {"todos"}}, headers)
			assert.Equal(t, http.StatusForbidden, got.status, "%v", headers)
			assert.Contains(t, words(got), "El pedido viene de otro sitio.")
		}
	}
	assert.Zero(t, h.jobs())
	assert.Zero(t, h.asked.Load())
	// A link from elsewhere only shows.
	assert.Equal(t, http.StatusOK, h.visit("GET", "norte/lotes/7", nil, header{"Sec-Fetch-Site": "cross-site"}).status)
}

// Browsers are told what the panel never needs, at every address.
func TestPanelProtects(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 2)
	const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
	for _, path := range []string{
		"norte/lotes/7", "norte/lotes/404", "norte/lotes/7?confirmar=todos", "norte/lotes/7/emails.csv", "norte/lotes/7/progreso", "estilo.css", "panel.js", "x",
	} {
		got := h.visit("GET", path, nil, nil).header
		assert.Equal(t, policy, got.Get("Content-Security-Policy"), path)
		assert.Equal(t, "nosniff", got.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "DENY", got.Get("X-Frame-Options"), path)
		assert.Equal(t, "same-origin", got.Get("Referrer-Policy"), path)
	}
	page := string(h.visit("GET", "norte/lotes/7", nil, nil).body)
	assert.NotContains(t, page, "style=")
	assert.NotContains(t, page, " on")
}

// The style and the script are for everybody, and are fetched once.
func TestPanelAssets(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	for name, kind := range map[string]string{"estilo.css": "text/css; charset=utf-8", "panel.js": "text/javascript; charset=utf-8"} {
		got := h.visit("GET", name, nil, header{"Cookie": "a=b"})
		assert.Equal(t, http.StatusOK, got.status)
		assert.Equal(t, kind, got.header.Get("Content-Type"))
		etag := got.header.Get("ETag")
		assert.Regexp(t, `^"[0-9a-f]{32}"$`, etag)
		assert.Equal(t, "no-cache", got.header.Get("Cache-Control"))
		assert.Equal(t, http.StatusNotModified, h.visit("GET", name, nil, header{"If-None-Match": etag}).status)
	}
	assert.Zero(t, h.asked.Load())
}

// Nothing that a database holds can become markup.
func TestPanelIsNotFooledByTexts(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	h.addLote("norte", 7, "completado", 1)
	hostile := `"><script>alert(1)</script><img src=x onerror=alert(2)>' javascript:alert(3)`
	h.exec(`INSERT INTO norte.membresia_facturacion_email_detalle (lote_id, socio_id, email, estado, error_detalle) VALUES (7, 1, $1::text, 'error', $1::text)`, hostile)
	body := string(h.visit("GET", "norte/lotes/7", nil, nil).body)
	assert.Equal(t, 1, strings.Count(body, "<script"), "the page's own")
	assert.NotContains(t, body, "<img")
	assert.Equal(t, 2, strings.Count(body, "&lt;script&gt;alert(1)"))
	asked := string(h.visit("GET", "norte/lotes/7?"+url.Values{hostile: {"1"}}.Encode(), nil, nil).body)
	assert.NotContains(t, asked, "<img")
}

// Whatever a schema is called, each link of its page leads somewhere.
func TestPanelLinksHold(t *testing.T) {
	t.Parallel()
	h := newPanelHouse(t)
	for _, schema := range []string{`a/b/../c`, `o'neil "x" <y>`, `50%20 ñ?a=b#c&d;e+f`, `javascript:alert(1)`, `..x`, `{schema}`} {
		name := pgx.Identifier{schema}.Sanitize()
		h.exec("CREATE SCHEMA " + name)
		h.exec("CREATE TABLE " + name + `.membresia_facturacion_lote_auditoria (id integer PRIMARY KEY, estado text, request_completo jsonb, detalles jsonb)`)
		_, err := migrations.UpBranch(t.Context(), h.pool, schema)
		require.NoError(t, err)
		h.addLote(schema, 7, "completado", 60)
		h.exec("INSERT INTO " + name + ".membresia_facturacion_email_detalle (lote_id, socio_id, estado) SELECT 7, n, 'error' FROM generate_series(1, 60) n")
		path := url.PathEscape(schema) + "/lotes/7"
		pages := []struct{ method, path string }{{"GET", path}, {"GET", path + "?estado=error&pagina=2"}, {"GET", path + "?confirmar=todos"}, {"POST", path + "/cancelar"}, {"GET", path + "/reenviar"}}
		for _, page := range pages {
			var form url.Values
			if page.method == "POST" {
				form = url.Values{}
			}
			got := h.visit(page.method, page.path, form, nil)
			base, err := url.Parse(h.url + page.path)
			require.NoError(t, err)
			assert.GreaterOrEqual(t, len(addresses(got)), 3)
			for _, address := range addresses(got) {
				target, err := base.Parse(address)
				require.NoError(t, err)
				assert.Equal(t, http.StatusOK, h.visit("GET", target.String(), nil, nil).status, "%s of %s", address, page.path)
			}
		}
		sent := h.visit("POST", path+"/reenviar", url.Values{"socio_ids": {"1"}}, nil)
		require.Equal(t, http.StatusSeeOther, sent.status, string(sent.body))
		base, err := url.Parse(h.url + path + "/reenviar")
		require.NoError(t, err)
		target, err := base.Parse(sent.header.Get("Location"))
		require.NoError(t, err)
		assert.Contains(t, words(h.visit("GET", target.String(), nil, nil)), "El envío empezó.")
		job, err := h.queue.FindActive(context.WithoutCancel(t.Context()), "email_notification_lote", schema, "lote:7")
		require.NoError(t, err)
		assert.Equal(t, delivery.StatePending, job.State)
	}
}
