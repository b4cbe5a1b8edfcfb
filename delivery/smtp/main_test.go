package smtp

import (
	"context"
	netmail "net/mail"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds what a test awaits; a test that works never waits for it.
func patience(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func startServer(t *testing.T, config smtptest.Config) *smtptest.Server {
	t.Helper()
	server, err := smtptest.NewServer(config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return server
}

func startPeer(t *testing.T, script func(*smtptest.Conversation)) *smtptest.RawPeer {
	t.Helper()
	peer, err := smtptest.NewRawPeer(script)
	require.NoError(t, err)
	t.Cleanup(func() {
		assert.NoError(t, peer.Close())
		assert.NoError(t, peer.Err())
	})
	return peer
}

// plain is an integration without TLS on this machine.
func plain(port int) Integration {
	return Integration{Host: "127.0.0.1", Port: port, TLS: Plaintext}
}

// newTransport returns a transport for one integration, which is closed, and
// must then have no connection left, before the servers are.
func newTransport(t *testing.T, in Integration, change func(*Config)) *Transport {
	t.Helper()
	config := Config{Integrations: Single(in)}
	if change != nil {
		change(&config)
	}
	transport, err := New(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		// The context of the test has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, transport.Close(ctx))
		assert.Empty(t, transport.pools.pools, "settings are forgotten with their last connection")
	})
	return transport
}

func newMessage() *mail.Message {
	return &mail.Message{
		Tenant:    "acme",
		From:      netmail.Address{Name: "Club Atlético", Address: "club@example.org"},
		To:        netmail.Address{Name: "Ana", Address: "ana@example.net"},
		Subject:   "Su confirmación",
		Text:      "Hola.\n.un punto\n",
		MessageID: "42@example.org",
		Date:      time.Date(2026, 3, 4, 5, 6, 7, 0, time.FixedZone("", -3*3600)),
	}
}

// commits counts the calls of commit.
type commits struct{ calls int }

func (c *commits) commit(context.Context) error {
	c.calls++
	return nil
}

// failureOf returns the failure that err must be.
func failureOf(t *testing.T, err error) *mail.SendError {
	t.Helper()
	var failure *mail.SendError
	require.ErrorAs(t, err, &failure)
	assert.NotEmpty(t, failure.Reach)
	assert.NotEmpty(t, failure.Certainty)
	assert.NotContains(t, err.Error(), "ana@", "errors hold no address")
	return failure
}
