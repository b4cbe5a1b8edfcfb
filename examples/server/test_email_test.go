package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

func testForm(what string) url.Values {
	return url.Values{"sitio": {"club-norte"}, "correo": {"marta@example.net"}, "idioma": {"es"}, "cifrado": {"starttls"}, "que": {what}}
}

// through adds settings to try.
func through(form url.Values, world *smtptest.Server) url.Values {
	form.Set("servidor", "127.0.0.1")
	form.Set("puerto", strconv.Itoa(world.Port()))
	form.Set("cifrado", "none")
	return form
}

func TestTestEmailIsSentEachTime(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for i, what := range []string{"prueba", "prueba", "validar"} {
		answer := s.post("/prueba", testForm(what))
		assert.Equal(t, http.StatusOK, answer.StatusCode)
		assert.Contains(t, answer.text(), "El servidor aceptó el mensaje")
		assert.Contains(t, answer.text(), "accepted")
		s.awaitText("/inbox", strconv.Itoa(i+1)+" mensaje", "para marta@example.net")
	}
	assert.NotEqual(t, subject(s, 1), subject(s, 3))
	english := testForm("prueba")
	english.Set("idioma", "en")
	english.Del("correo")
	assert.Contains(t, s.post("/prueba", english).body, `<p lang="en">`)
	assert.Contains(t, s.get("/inbox/4").text(), "Para hola@club-norte.example", "nobody named: the sender")
	assert.Zero(t, s.jobs())
	assert.Zero(t, s.count(`SELECT count(*) FROM buzon.email_deliveries`))
}

var heading = regexp.MustCompile(`<h1>(.*?)</h1>`)

func subject(s *server, n int) string {
	s.t.Helper()
	return heading.FindString(s.get("/inbox/" + strconv.Itoa(n)).body)
}

// What a server says against it is told in words, and in the server's own.
func TestTestEmailThatIsRefused(t *testing.T) {
	t.Parallel()
	world := newMailServer(t, smtptest.Config{Rules: []smtptest.Rule{
		{At: smtptest.Rcpt, Reply: smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "nobody of this name"}},
	}})
	s := startServer(t, nil)
	answer := s.post("/prueba", through(testForm("prueba"), world))
	assert.Equal(t, http.StatusOK, answer.StatusCode)
	for _, said := range []string{"El mensaje no salió", "recipient_refused", "550 5.1.1", "nobody of this name"} {
		assert.Contains(t, answer.text(), said)
	}
	assert.NotContains(t, s.get("/inbox").text(), "1 mensaje", "it went through the settings that were typed")
	require.NoError(t, world.WaitForNoConnections(t.Context()), "what was tried is closed")
	assert.Equal(t, 1, world.Connections())
}

// Settings are tried before they are saved, and their password is seen nowhere.
func TestSettingsThatAreTried(t *testing.T) {
	t.Parallel()
	world := newMailServer(t, smtptest.Config{Username: "robot", Password: "hunter2", RequireAuth: true})
	s := startServer(t, nil)
	for password, says := range map[string]string{"hunter2": "accepted", "hunter3": "password_refused"} {
		form := through(testForm("validar"), world)
		form.Set("cuenta", "robot")
		form.Set("clave", password)
		answer := s.post("/prueba", form)
		assert.Contains(t, answer.text(), says)
		assert.Contains(t, answer.body, `value="robot"`, "what was typed stands there again")
		assert.NotContains(t, answer.body, password)
	}
	assert.Equal(t, 1, world.Accepted())
	nowhere := through(testForm("validar"), world)
	nowhere.Set("servidor", "mail.club.invalid")
	assert.Contains(t, s.post("/prueba", nowhere).text(), "host_not_found")
	s.stop()
	assert.NotContains(t, s.output.String(), "hunter")
	assert.NotContains(t, s.output.String(), "marta@example.net")
}

func TestTestFormRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	for _, tc := range []struct{ name, field, value, says string }{
		{"no tenant", "sitio", "", "Falta elegir el sitio."},
		{"an address that is none", "correo", "marta", "Este correo no es válido."},
		{"no language", "idioma", "fr", "Falta elegir el idioma."},
		{"a server with a port", "servidor", "smtp.example:25", "El puerto va aparte."},
		{"a port of no server", "puerto", "25", "El servidor tiene que ser un nombre"},
		{"a port that is none", "puerto", "70000", "un número de 1 a 65535"},
		{"half a login", "cuenta", "robot", "van juntas"},
		{"the other half", "clave", "hunter2", "van juntas"},
	} {
		form := testForm("prueba")
		form.Set(tc.field, tc.value)
		answer := s.post("/prueba", form)
		assert.Equal(t, http.StatusUnprocessableEntity, answer.StatusCode, tc.name)
		assert.Contains(t, answer.text(), tc.says, tc.name)
	}
	unencrypted := testForm("prueba")
	unencrypted.Set("servidor", "smtp.example")
	unencrypted.Set("cifrado", "perhaps")
	assert.Contains(t, s.post("/prueba", unencrypted).text(), "Falta elegir el cifrado.")
	assert.Contains(t, s.get("/inbox").text(), "0 mensajes")
}
