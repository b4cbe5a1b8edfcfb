package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

// newMailServer is a server out in the world.
func newMailServer(t *testing.T, config smtptest.Config) *smtptest.Server {
	t.Helper()
	world, err := smtptest.NewServer(config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, world.Close()) })
	return world
}

func settingsFor(world *smtptest.Server) settings {
	return settings{"SMTP_HOST": "127.0.0.1", "SMTP_PORT": strconv.Itoa(world.Port()), "SMTP_TLS": "none"}
}

// received waits for the n-th message.
func received(t *testing.T, world *smtptest.Server, n int) smtptest.Message {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	messages, err := world.WaitForMessages(ctx, n)
	require.NoError(t, err)
	return messages[n-1]
}

func TestMailGoesOutForReal(t *testing.T) {
	t.Parallel()
	world := newMailServer(t, smtptest.Config{Username: "robot", Password: "hunter2", RequireAuth: true})
	env := settingsFor(world)
	env["SMTP_USERNAME"], env["SMTP_PASSWORD"], env["SMTP_FROM"] = "robot", "hunter2", "robot@real.example"
	s := startServer(t, env)
	s.signUp("club-norte", "Ana", "ana@example.net")

	message := received(t, world, 1)
	assert.Equal(t, "robot@real.example", message.From)
	assert.Equal(t, []string{"ana@example.net"}, message.To)
	assert.Contains(t, s.get("/inbox").text(), "los mensajes salen de verdad")
	assert.Equal(t, http.StatusNotFound, s.get("/inbox/1").StatusCode)
	s.stop()
	assert.NotContains(t, s.output.String(), "hunter2")
}

func TestTenantHasItsOwnServer(t *testing.T) {
	t.Parallel()
	world := newMailServer(t, smtptest.Config{Username: "teatro", Password: "hunter2", RequireAuth: true})
	s := startServer(t, nil)
	_, err := s.db.Exec(t.Context(), `
		UPDATE sample_host.tenants
		SET smtp_host = '127.0.0.1', smtp_port = $1, smtp_tls = 'none', smtp_username = 'teatro', smtp_password = 'hunter2'
		WHERE code = 'teatro-sur'`, world.Port())
	require.NoError(t, err)

	s.signUp("teatro-sur", "Ana", "ana@example.net")
	assert.Equal(t, "boleteria@teatro-sur.example", received(t, world, 1).From)
	s.signUp("club-norte", "Bea", "bea@example.net")
	s.awaitText("/inbox", "1 mensaje", "para bea@example.net")
	assert.Equal(t, 1, world.Accepted())
}

// The server takes the welcome and never says so: somebody decides.
func TestUnknownOutcomeIsResolved(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		decision, says string
		copies         int
	}{
		{"reenviar", "sale con el próximo intento", 2},
		{"enviado", "Entrega resuelta.", 1},
	} {
		t.Run(tc.decision, func(t *testing.T) {
			t.Parallel()
			world := newMailServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Dot, Drop: true, Times: 1}}})
			s := startServer(t, settingsFor(world))
			s.signUp("club-norte", "Ana", "ana@example.net")
			s.awaitText("/entregas", "welcome:club-norte:1 resultado desconocido", "hasta que alguien decida")
			s.awaitText("/trabajos", "user_registered n.º 1 pendiente")

			resolve := url.Values{"tenant": {"club-norte"}, "clave": {"welcome:club-norte:1"}, "decision": {tc.decision}}
			assert.Equal(t, http.StatusUnprocessableEntity, s.post("/entregas/resolver", resolve).StatusCode)
			resolve.Set("quien", "Marta")
			resolve.Set("motivo", "la llamé por teléfono")
			answer := s.post("/entregas/resolver", resolve)
			assert.Contains(t, answer.text(), tc.says)
			assert.Contains(t, answer.text(), "por Marta: la llamé por teléfono")
			assert.Equal(t, http.StatusConflict, s.post("/entregas/resolver", resolve).StatusCode, "once is enough")

			s.post("/trabajos/1/ejecutar", nil)
			s.awaitText("/trabajos", "user_registered n.º 1 completado")
			s.awaitText("/entregas", "welcome:club-norte:1 enviado")
			assert.Equal(t, tc.copies, world.Copies(received(t, world, 1).MessageID()))
		})
	}
}
