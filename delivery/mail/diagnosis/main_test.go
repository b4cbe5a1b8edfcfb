package diagnosis_test

import (
	"context"
	"errors"
	netmail "net/mail"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/diagnosis"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var languages = []string{"es", "en", "pt"}

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
func plain(port int) smtp.Integration {
	return smtp.Integration{Host: "127.0.0.1", Port: port, TLS: smtp.Plaintext}
}

func withPassword(in smtp.Integration) smtp.Integration {
	in.Username, in.Password = "robot", "hunter2-hunter2-hunter2"
	return in
}

func newTransport(t *testing.T, config smtp.Config) *smtp.Transport {
	t.Helper()
	transport, err := smtp.New(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		// The context of the test has ended by now.
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		assert.NoError(t, transport.Close(ctx))
	})
	return transport
}

func newMessage() *mail.Message {
	return &mail.Message{
		Tenant:  "acme",
		From:    netmail.Address{Name: "Club Atlético", Address: "club@example.org"},
		To:      netmail.Address{Name: "Ana", Address: "ana@example.net"},
		Subject: "Su confirmación",
		Text:    "Hola.\n",
	}
}

// failed explains an error that must be a *mail.SendError.
func failed(t *testing.T, err error) diagnosis.Diagnosis {
	t.Helper()
	require.Error(t, err)
	_, ok := errors.AsType[*mail.SendError](err)
	require.True(t, ok, "%v", err)
	d := diagnosis.OfError(err)
	assertPresentable(t, d)
	return d
}

var anyAddress = regexp.MustCompile(`\S@\S`)

// assertPresentable checks what holds for every diagnosis.
func assertPresentable(t *testing.T, d diagnosis.Diagnosis) {
	t.Helper()
	for _, language := range languages {
		text := d.Text(language)
		assert.True(t, strings.HasSuffix(text, "."), "ends with a full stop: %s", text)
		assert.NotRegexp(t, anyAddress, text)
		for _, hidden := range []string{"hunter2", "ana@", "club@", "<ana"} {
			assert.NotContains(t, text, hidden)
		}
	}
}
