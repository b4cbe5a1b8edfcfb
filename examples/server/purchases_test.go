package main

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The first dates of the sample's events, as they are numbered at the start.
const (
	clubDate    = "1"
	theatreDate = "4"
)

func purchaseForm(user int, date string, seats int) url.Values {
	return url.Values{"usuario": {strconv.Itoa(user)}, "fecha": {date}, "entradas": {strconv.Itoa(seats)}}
}

// buy creates a purchase, which must succeed.
func (s *server) buy(user int, date string, seats int) {
	s.t.Helper()
	answer := s.post("/compras", purchaseForm(user, date, seats))
	require.Equal(s.t, http.StatusOK, answer.StatusCode, answer.text())
	require.Contains(s.t, answer.text(), "Compra creada.")
}

// pay pays a purchase, which must succeed.
func (s *server) pay(purchase int, when url.Values) {
	s.t.Helper()
	answer := s.post(fmt.Sprintf("/compras/%d/pagar", purchase), when)
	require.Contains(s.t, answer.text(), "Compra pagada.")
}

// club returns a server with a member of the club, whose welcome has come.
func club(t *testing.T) *server {
	t.Helper()
	s := startServer(t, nil)
	s.signUp("club-norte", "Ana Pérez", "ana@example.net")
	s.awaitText("/inbox", "1 mensaje")
	return s
}

func TestPaymentSendsTheTicketsInOneFile(t *testing.T) {
	t.Parallel()
	s := club(t)
	s.buy(1, clubDate, 3)
	assert.Contains(t, s.get("/compras").text(), "3.750,00 UYU")
	assert.Equal(t, 1, s.jobs(), "nobody is written to before it is paid")
	assert.NotContains(t, s.get("/compras").body, "entradas.pdf", "there are no tickets yet")
	assert.Equal(t, http.StatusNotFound, s.get("/compras/1/entradas.pdf").StatusCode)
	s.pay(1, now)

	inbox := s.awaitText("/inbox", "2 mensajes", "C-1001")
	assert.Contains(t, inbox.text(), "para ana@example.net")
	message := s.get("/inbox/2")
	for _, said := range []string{"Club Norte <hola@club-norte.example>", "3 × Platea", "Noche de candombe", "3.750,00", "hora de Montevideo"} {
		assert.Contains(t, message.text(), said)
	}
	assert.Contains(t, message.body, s.url+"/compras#compra-1")
	assert.Contains(t, message.body, `href="/inbox/2/adjuntos/1" download="`)
	assert.NotContains(t, message.body, `/inbox/2/adjuntos/2`, "one file, however many tickets")
	s.awaitText("/entregas", "purchase-confirmed:1 enviado")

	attached := s.get("/inbox/2/adjuntos/1")
	assert.Equal(t, "application/pdf", attached.Header.Get("Content-Type"))
	assert.Contains(t, attached.Header.Get("Content-Disposition"), "inline;")
	assert.Contains(t, attached.Header.Get("Content-Disposition"), "C-1001.pdf")
	assert.Contains(t, attached.body[:8], "%PDF-")
	downloaded := s.get("/compras/1/entradas.pdf")
	assert.Equal(t, "application/pdf", downloaded.Header.Get("Content-Type"))
	assert.Contains(t, downloaded.body[:8], "%PDF-")
	assert.Contains(t, s.get("/compras").body, `href="/compras/1/entradas.pdf"`)

	again := s.post("/compras/1/pagar", now)
	assert.Equal(t, http.StatusConflict, again.StatusCode)
	assert.Contains(t, again.text(), "Esa compra no se puede pagar")
	assert.Equal(t, 3, s.count(`SELECT count(*) FROM sample_host.tickets`))
	assert.Equal(t, 2, s.jobs())
}

func TestPurchaseWithoutTicketsHasNothingAttached(t *testing.T) {
	t.Parallel()
	s := club(t)
	s.buy(1, clubDate, 0)
	s.pay(1, now)
	s.awaitText("/inbox", "2 mensajes")
	message := s.get("/inbox/2")
	assert.Contains(t, message.text(), "Programa impreso")
	assert.NotContains(t, message.text(), "Adjuntos")
	assert.Equal(t, http.StatusNotFound, s.get("/inbox/2/adjuntos/1").StatusCode)
	assert.Equal(t, http.StatusNotFound, s.get("/compras/1/entradas.pdf").StatusCode)
}

func TestPurchaseAnnulledInTimeIsNotConfirmed(t *testing.T) {
	t.Parallel()
	s := club(t)
	s.buy(1, clubDate, 2)
	s.pay(1, later)
	assert.Contains(t, s.post("/compras/1/anular", nil).text(), "Compra anulada.")

	s.post("/trabajos/2/ejecutar", nil) // without waiting for the 20 seconds
	s.awaitText("/trabajos", "purchase_paid n.º 2 completado", "No hubo nada que hacer the purchase was cancelled")
	assert.Contains(t, s.get("/inbox").text(), "1 mensaje", "the welcome only")
	assert.NotContains(t, s.get("/compras").body, "entradas.pdf")
	for path, method := range map[string]func(string) page{
		"/compras/1/anular":       func(path string) page { return s.post(path, nil) },
		"/compras/1/entradas.pdf": s.get,
	} {
		answer := method(path)
		assert.Equal(t, http.StatusConflict, answer.StatusCode, path)
		assert.Contains(t, answer.text(), "Esa compra está anulada.", path)
	}
}

// A reader gets the language of the account.
func TestEmailsAreInTheReadersLanguage(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for language, says := range map[string]string{"en": "Welcome", "pt": "Sua conta"} {
		form := signUpForm("teatro-sur", "Ana", language+"@example.net")
		form.Set("idioma", language)
		require.Equal(t, http.StatusOK, s.post("/usuarios", form).StatusCode)
		s.awaitText("/inbox", says)
	}
	assert.Contains(t, s.get("/").text(), "Idioma Português")
}

func TestPurchaseRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	assert.Contains(t, s.get("/compras").text(), "Para comprar hace falta una cuenta")
	s.signUp("club-norte", "Ana", "ana@example.net")
	for _, tc := range []struct {
		name string
		form url.Values
		says string
	}{
		{"nobody", purchaseForm(0, clubDate, 1), "Falta elegir quién compra."},
		{"no date", purchaseForm(1, "", 1), "Falta elegir la fecha."},
		{"a date that is not there", purchaseForm(1, "999", 1), "Falta elegir la fecha."},
		{"a date of another tenant", purchaseForm(1, theatreDate, 1), "Esta fecha es de otro sitio. La cuenta es de Club Norte."},
		{"too many", purchaseForm(1, clubDate, 7), "un número de 0 a 6"},
		{"fewer than none", purchaseForm(1, clubDate, -1), "un número de 0 a 6"},
		{"nothing filled in", nil, "La compra no se creó"},
	} {
		answer := s.post("/compras", tc.form)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.StatusCode, tc.name)
		assert.Contains(t, answer.text(), tc.says, tc.name)
	}
	assert.Contains(t, s.post("/compras", purchaseForm(1, clubDate, 9)).body, `<option value="1" selected>Ana (Club Norte)`,
		"what was chosen stands there again")
	assert.Zero(t, s.count(`SELECT count(*) FROM sample_host.purchases`))
}
