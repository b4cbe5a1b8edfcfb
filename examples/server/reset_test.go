package main

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	now   = url.Values{"salida": {"ahora"}}
	later = url.Values{"salida": {"luego"}}

	codePattern = regexp.MustCompile(`\b\d{6}\b`)
)

func TestPasswordResetSendsTheCode(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.signUp("club-norte", "Ana", "ana@example.net")
	s.awaitText("/inbox", "1 mensaje")
	assert.Contains(t, s.post("/usuarios/1/codigo", now).text(), "Código pedido.")

	inbox := s.awaitText("/inbox", "2 mensajes")
	assert.Contains(t, inbox.text(), "contraseña en Portal de Socios")
	text := s.get("/inbox/2").text()
	assert.Contains(t, text, "hora de Montevideo", "the time is told in the tenant's zone")
	code := codePattern.FindString(text)
	require.NotEmpty(t, code)

	for _, path := range []string{"/", "/trabajos", "/entregas", "/inbox"} {
		assert.NotContains(t, s.get(path).text(), code, path)
	}
	s.stop()
	for _, secret := range []string{code, "ana@example.net"} {
		assert.NotContains(t, s.output.String(), secret)
	}
}

func TestWithdrawnResetIsNotSent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		withdraw func(*server) page
		says     string
	}{
		{"cancelled", func(s *server) page { return s.post("/recuperaciones/1/anular", nil) }, "Pedido anulado."},
		{"replaced", func(s *server) page { return s.post("/usuarios/1/codigo", later) }, "Código pedido."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, nil)
			s.signUp("club-norte", "Ana", "ana@example.net")
			s.awaitText("/inbox", "1 mensaje")
			assert.Contains(t, s.post("/usuarios/1/codigo", later).text(), "en 20 segundos")

			assert.Contains(t, tc.withdraw(s).text(), tc.says)
			s.post("/trabajos/2/ejecutar", nil) // without waiting for the 20 seconds
			s.awaitText("/trabajos", "password_reset_requested n.º 2 completado", "the attempt is no longer pending")
			assert.Contains(t, s.get("/inbox").text(), "1 mensaje", "the welcome only")
			assert.Equal(t, http.StatusConflict, s.post("/recuperaciones/1/anular", nil).StatusCode, "once is enough")
		})
	}
}

func TestCancelledJobSendsNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t, nil)
	s.signUp("club-norte", "Ana", "ana@example.net")
	s.awaitText("/inbox", "1 mensaje")
	s.post("/usuarios/1/codigo", later)

	assert.Contains(t, s.post("/trabajos/2/cancelar", nil).text(), "Trabajo cancelado.")
	assert.Contains(t, s.get("/trabajos").text(), "password_reset_requested n.º 2 cancelado")
	again := s.post("/trabajos/2/cancelar", nil)
	assert.Equal(t, http.StatusConflict, again.StatusCode)
	assert.Contains(t, again.text(), "Ese trabajo ya terminó.")
}
