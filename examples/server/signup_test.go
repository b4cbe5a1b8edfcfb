package main

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSignUpSendsOneWelcome(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, tenant, brand, from string }{
		{"with a WebsiteType", "club-norte", "Portal de Socios", "Portal de Socios <hola@club-norte.example>"},
		{"with its own brand", "teatro-sur", "Teatro del Sur", "Teatro del Sur <boleteria@teatro-sur.example>"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, nil)
			s.signUp(tc.tenant, "Ana Pérez", "ana@example.net")

			inbox := s.awaitText("/inbox", "1 mensaje")
			assert.Contains(t, inbox.text(), "Te damos la bienvenida a "+tc.brand)
			assert.Contains(t, inbox.text(), "para ana@example.net")
			message := s.get("/inbox/1")
			assert.Contains(t, message.text(), tc.from)
			assert.Contains(t, message.text(), "Hola, Ana Pérez:")
			assert.Contains(t, s.get("/inbox/1/html").text(), "Hola, Ana Pérez :")
			assert.Contains(t, s.get("/inbox/1/fuente").body, "\r\nMessage-ID: <")

			s.awaitText("/trabajos", "user_registered n.º 1 completado")
			assert.Contains(t, s.get("/entregas").text(), "welcome:"+tc.tenant+":1 enviado")
			assert.Contains(t, s.get("/entregas").text(), "2.0.0 OK: queued")
		})
	}
}

func TestJobThatRunsAgainSendsNothingAgain(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.signUp("club-norte", "Ana", "ana@example.net")
	s.awaitText("/trabajos", "completado", "Intentos 1")

	answer := s.post("/trabajos/1/ejecutar", nil)
	assert.Contains(t, answer.text(), "El trabajo se ejecuta ahora.")
	s.awaitText("/trabajos", "completado", "Intentos 2")
	s.awaitText("/inbox", "1 mensaje")
}

func TestSignUpRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for _, tc := range []struct {
		name string
		form url.Values
		says string
	}{
		{"nothing filled in", nil, "Falta elegir el sitio."},
		{"no name", signUpForm("club-norte", " \t", "ana@example.net"), "Falta el nombre."},
		{"a long name", signUpForm("club-norte", strings.Repeat("ñ", 81), "ana@example.net"), "El nombre es demasiado largo"},
		{"a name with a line end", signUpForm("club-norte", "Ana\nBcc: x", "ana@example.net"), "El nombre tiene un carácter"},
		{"no address", signUpForm("club-norte", "Ana", ""), "Falta el correo."},
		{"no domain", signUpForm("club-norte", "Ana", "ana"), "Este correo no es válido."},
		{"a name before the address", signUpForm("club-norte", "Ana", "Ana <ana@example.net>"), "Este correo no es válido."},
		{"no language", url.Values{"sitio": {"club-norte"}, "nombre": {"Ana"}, "correo": {"ana@example.net"}}, "Falta elegir el idioma."},
		{"another tenant", signUpForm("club-este", "Ana", "ana@example.net"), "Falta elegir el sitio."},
	} {
		answer := s.post("/usuarios", tc.form)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.StatusCode, tc.name)
		assert.Contains(t, answer.text(), tc.says, tc.name)
	}
	answer := s.post("/usuarios", signUpForm("teatro-sur", `"><b>Ana`, "ana"))
	assert.Contains(t, answer.body, `value="&#34;&gt;&lt;b&gt;Ana"`, "what was typed stands there again")
	assert.Contains(t, answer.body, `<option value="teatro-sur" selected>`)

	assert.Zero(t, s.users())
	assert.Zero(t, s.jobs())
}

// The address is taken once, and everything of the others is rolled back.
func TestAddressTakenLeavesNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	answers := make(chan page)
	var posting sync.WaitGroup
	for _, email := range []string{"ana@example.net", "ANA@example.net", "Ana@Example.Net", "ana@EXAMPLE.net"} {
		posting.Go(func() { answers <- s.post("/usuarios", signUpForm("club-norte", "Ana", email)) })
	}
	go func() {
		posting.Wait()
		close(answers)
	}()
	statuses := map[int]int{}
	for answer := range answers {
		statuses[answer.StatusCode]++
		if answer.StatusCode == http.StatusConflict {
			assert.Contains(t, answer.text(), "Ya hay una cuenta con este correo")
		}
	}
	assert.Equal(t, map[int]int{http.StatusOK: 1, http.StatusConflict: 3}, statuses)
	assert.Equal(t, 1, s.users())
	assert.Equal(t, 1, s.jobs())

	s.signUp("teatro-sur", "Ana", "ana@example.net")
	require.Equal(t, 2, s.jobs(), "another tenant knows nothing of her")
}
