package main

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/smtp"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFormsOfOtherSitesAreRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
		request := s.form("/usuarios", signUpForm("club-norte", "Ana", "ana@example.net"))
		request.Header.Set(name, value)
		answer := s.do(request)
		assert.Equal(t, http.StatusForbidden, answer.StatusCode, name)
		assert.Contains(t, answer.text(), "El pedido viene de otro sitio.", name)
	}
	assert.Zero(t, s.users())

	for _, path := range []string{"/compras", "/compras/1/pagar", "/fechas/1/reprogramar", "/fechas/1/suspender", "/prueba"} {
		request := s.form(path, nil)
		request.Header.Set("Sec-Fetch-Site", "cross-site")
		assert.Equal(t, http.StatusForbidden, s.do(request).StatusCode, path)
	}

	request := s.form("/usuarios", signUpForm("club-norte", "Ana", "ana@example.net"))
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	request.Header.Set("Origin", s.url)
	assert.Equal(t, http.StatusOK, s.do(request).StatusCode)
	assert.Equal(t, 1, s.users())
}

func TestPagesLoadNothingForeign(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.signUp("club-norte", "Ana", "ana@example.net")
	s.awaitText("/inbox", "1 mensaje")
	for _, path := range []string{
		"/", "/compras", "/fechas", "/fechas/1/reprogramar", "/fechas/1/suspender", "/trabajos", "/entregas", "/inbox", "/inbox/1", "/prueba", "/nada",
	} {
		found := s.get(path)
		policy := found.Header.Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none';", path)
		assert.NotContains(t, policy, "unsafe", path)
		// What a page brings along is what its policy allows.
		assert.Contains(t, policy, "style-src "+hashOf(t, found, "style")+";", path)
		assert.Contains(t, policy, "script-src "+hashOf(t, found, "script"), path)
		assert.NotRegexp(t, `(src|href)="(https?:)?//`, found.body, path)
		assert.Equal(t, "nosniff", found.Header.Get("X-Content-Type-Options"), path)
	}
	assert.Regexp(t, `<iframe src="/inbox/1/html" sandbox `, s.get("/inbox/1").body)
	policy := s.get("/inbox/1/html").Header.Get("Content-Security-Policy")
	assert.Contains(t, policy, "sandbox; default-src 'none';")
	assert.Contains(t, policy, "img-src data: "+s.url+"/logos/;", "the logos are our own")
}

func TestPreviewsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	assert.Contains(t, s.get("/").body, `<a href="/vista-previa/">`)
	assert.Equal(t, http.StatusOK, s.get("/vista-previa/").StatusCode)
	welcome := s.get("/vista-previa/welcome-1")
	for _, brand := range []string{"Portal de Socios", "Teatro del Sur"} {
		assert.Contains(t, welcome.text(), "Te damos la bienvenida a "+brand)
	}
	assert.Contains(t, welcome.Header.Get("Content-Security-Policy"), "default-src 'none'")
}

// E-mails name their logo by a URL of the server's own.
func TestLogosAreShown(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.signUp("club-norte", "Ana", "ana@example.net")
	s.awaitText("/inbox", "1 mensaje")
	assert.Contains(t, s.get("/inbox/1/html").body, `src="`+s.url+`/logos/socios.png"`)
	logo := s.get("/logos/socios.png")
	assert.Equal(t, http.StatusOK, logo.StatusCode)
	assert.Equal(t, "image/png", logo.Header.Get("Content-Type"))
	assert.Equal(t, "image/png", http.DetectContentType([]byte(logo.body)))
}

// sendToSink sends what these pages did not write, to be seen at /inbox.
func (s *server) sendToSink(lines ...string) {
	s.t.Helper()
	sink := regexp.MustCompile(`kept by a server on (\S+),`).FindStringSubmatch(s.output.String())
	require.Len(s.t, sink, 2)
	message := append([]string{"From: eva@example.net", "To: ana@example.net", "Subject: hola", "MIME-Version: 1.0"}, lines...)
	require.NoError(s.t, smtp.SendMail(sink[1], nil, "eva@example.net", []string{"ana@example.net"}, []byte(strings.Join(message, "\r\n"))))
}

// A foreign file would have the rights of these pages.
func TestAttachmentsOtherThanPDFsAreOnlySaved(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.sendToSink("Content-Type: multipart/mixed; boundary=x", "", "--x", "Content-Type: text/plain", "", "hola",
		"--x", "Content-Type: text/html", `Content-Disposition: attachment; filename="página.html"`, "", "<script>alert(1)</script>",
		"--x", "Content-Type: application/pdf", `Content-Disposition: attachment; filename="no.pdf"`, "", "<script>alert(1)</script>", "--x--")
	s.awaitText("/inbox", "1 mensaje")
	assert.NotContains(t, s.get("/inbox/1").text(), "Abrir página")
	for _, path := range []string{"/inbox/1/adjuntos/1", "/inbox/1/adjuntos/2"} {
		file := s.get(path)
		assert.Equal(t, "application/octet-stream", file.Header.Get("Content-Type"), path)
		assert.Contains(t, file.Header.Get("Content-Disposition"), "attachment;", path)
	}
}

// hashOf returns the source of a page's one inline element, as a policy names
// it.
func hashOf(t *testing.T, p page, element string) string {
	t.Helper()
	found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(p.body, -1)
	require.Len(t, found, 1)
	sum := sha256.Sum256([]byte(found[0][1]))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func TestWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for _, path := range []string{
		"/nada", "/inbox/1", "/inbox/x", "/inbox/1/html", "/inbox/1/fuente", "/inbox/1/adjuntos/1", "/trabajos?antes=x",
		"/compras/1/entradas.pdf", "/compras/x/entradas.pdf", "/fechas/99/reprogramar", "/fechas/x/suspender", "/logos/nada.png",
	} {
		assert.Equal(t, http.StatusNotFound, s.get(path).StatusCode, path)
	}
	for _, path := range []string{"/trabajos/1/ejecutar", "/trabajos/1/cancelar", "/trabajos/x/cancelar", "/usuarios/1/codigo", "/fechas/99/suspender", "/compras/x/pagar"} {
		assert.Equal(t, http.StatusNotFound, s.post(path, nil).StatusCode, path)
	}
	unknown := url.Values{"tenant": {"club-norte"}, "clave": {"welcome:club-norte:1"}, "decision": {"enviado"}, "quien": {"Marta"}, "motivo": {"x"}}
	assert.Equal(t, http.StatusNotFound, s.post("/entregas/resolver", unknown).StatusCode)
	unknown.Set("decision", "borrar")
	assert.Equal(t, http.StatusBadRequest, s.post("/entregas/resolver", unknown).StatusCode)
	assert.Zero(t, s.jobs())
}

func TestLongListsHavePages(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	_, err := s.db.Exec(t.Context(), `
		INSERT INTO buzon.outbox_jobs (job_type, tenant, payload, max_retries) SELECT 'of another host', 'acme', '{}', 0 FROM generate_series(1, 51)`)
	require.NoError(t, err)
	_, err = s.db.Exec(t.Context(), `
		INSERT INTO buzon.email_deliveries (tenant, delivery_key, kind, on_unknown, message_id, status)
		SELECT 'acme', 'key:' || n, 'kind', 'hold', 'id', 'failed' FROM generate_series(1, 51) n`)
	require.NoError(t, err)
	for _, path := range []string{"/trabajos", "/entregas"} {
		first := s.get(path)
		assert.Contains(t, first.body, `href="?antes=2"`, path)
		second := s.get(path + "?antes=2")
		assert.Regexp(t, `n.º 1 |key:1 `, second.text(), path)
		assert.NotContains(t, second.body, "antes=", path)
	}
}

func TestOperation(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.signUp("club-norte", "Ana", "ana@example.net")
	s.awaitText("/inbox", "1 mensaje")
	assert.Equal(t, "ok\n", s.get("/healthz").body)
	s.awaitText("/readyz", "ready")
	metrics := s.awaitText("/metrics", `buzon_job_attempts_total{job_type="user_registered",outcome="completed"} 1`)
	for _, sample := range []string{
		`buzon_deliveries_total{kind="welcome",outcome="sent"} 1`, "buzon_deliveries_on_hold 0",
		`buzon_smtp_sends_total{class="2xx",outcome="sent",`, "buzon_jobs_running ", "go_goroutines ",
	} {
		assert.Contains(t, metrics.body, sample)
	}
}

func TestNotReadyWithoutTheTables(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.awaitText("/readyz", "ready")
	_, err := s.db.Exec(t.Context(), `ALTER TABLE buzon.email_deliveries RENAME TO elsewhere`)
	require.NoError(t, err)
	answer := s.get("/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	assert.Equal(t, "not ready\n", answer.body, "strangers are not told why")
	assert.Contains(t, s.output.String(), "email_deliveries", "the log is")

	broken := s.get("/entregas")
	assert.Equal(t, http.StatusInternalServerError, broken.StatusCode)
	assert.NotContains(t, broken.text(), "email_deliveries")
	assert.Equal(t, "ok\n", s.get("/healthz").body)
}
