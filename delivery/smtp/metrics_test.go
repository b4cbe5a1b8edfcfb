package smtp

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{Rules: []smtptest.Rule{
		{At: smtptest.Rcpt, Skip: 2, Times: 1, Reply: smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "gone"}},
		{At: smtptest.Dot, Skip: 2, Drop: true},
	}})
	transport := newTransport(t, plain(server.Port()), nil)
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(transport.Collector()))
	for range 4 {
		_, _ = transport.Send(patience(t), newMessage(), nil) // two sent, one refused, one unknown
	}
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP buzon_smtp_sends_total Messages by outcome, the phase that decided it, how far a failure reaches, and the class of the server's reply.
# TYPE buzon_smtp_sends_total counter
buzon_smtp_sends_total{class="2xx",outcome="sent",phase="dot",reach=""} 2
buzon_smtp_sends_total{class="5xx",outcome="failed",phase="rcpt",reach="recipient"} 1
buzon_smtp_sends_total{class="none",outcome="unknown",phase="dot",reach="message"} 1
# HELP buzon_smtp_connections_opened_total Connections that were made ready for messages.
# TYPE buzon_smtp_connections_opened_total counter
buzon_smtp_connections_opened_total 1
# HELP buzon_smtp_connections_reused_total Messages that began on a connection used before.
# TYPE buzon_smtp_connections_reused_total counter
buzon_smtp_connections_reused_total 3
# HELP buzon_smtp_connections_open Connections that are open now.
# TYPE buzon_smtp_connections_open gauge
buzon_smtp_connections_open 0
`), "buzon_smtp_sends_total", "buzon_smtp_connections_opened_total", "buzon_smtp_connections_reused_total",
		"buzon_smtp_connections_open"))

	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	assert.Empty(t, problems)
	families, err := registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		assert.True(t, strings.HasPrefix(family.GetName(), "buzon_smtp_"), family.GetName())
	}
}
