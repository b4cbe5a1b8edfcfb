package mail_test

import (
	"context"
	"errors"
	"log/slog"
	netmail "net/mail"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/pgtest"
)

// patience is how long a test waits for what must come; it is not a measure.
const patience = 30 * time.Second

// lease is short, so that a test sees its end, and long enough to be renewed on
// a busy machine.
const lease = 2 * time.Second

var welcome = mail.Delivery{Tenant: "acme", Key: "welcome:acme:42", Kind: "welcome"}

// held is welcome as a kind that is held when its outcome is unknown.
var held = mail.Delivery{Tenant: "acme", Key: "welcome:acme:42", Kind: "welcome", OnUnknown: mail.Hold}

func message() mail.Message {
	return mail.Message{
		From:    netmail.Address{Name: "Acme", Address: "hola@acme.example"},
		To:      netmail.Address{Name: "Ana Muñoz", Address: "ana@example.net"},
		Subject: "Te damos la bienvenida",
		Text:    "Hola, Ana.\n",
	}
}

func newServer(t testing.TB, rules ...smtptest.Rule) *smtptest.Server {
	t.Helper()
	server, err := smtptest.NewServer(smtptest.Config{Rules: rules})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return server
}

func newTransport(t testing.TB, port int) *smtp.Transport {
	t.Helper()
	return startTransport(t, smtp.Config{
		Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: port, TLS: smtp.Plaintext}),
		ReplyGrace:   patience,
	})
}

// startTransport returns a transport that is closed when the test ends.
func startTransport(t testing.TB, config smtp.Config) *smtp.Transport {
	t.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	transport, err := smtp.New(config)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
		defer cancel()
		assert.NoError(t, transport.Close(ctx))
	})
	return transport
}

func newMailer(t testing.TB, pool *pgxpool.Pool, sender mail.Sender) *mail.Mailer {
	t.Helper()
	mailer, err := mail.NewMailer(pool, mail.MailerConfig{
		Sender: sender, Lease: lease, HoldRecheck: time.Minute, Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	return mailer
}

// newHouse returns a mailer that sends to a server with rules.
func newHouse(t testing.TB, rules ...smtptest.Rule) (*pgxpool.Pool, *smtptest.Server, *mail.Mailer) {
	t.Helper()
	pool := pgtest.New(t)
	server := newServer(t, rules...)
	return pool, server, newMailer(t, pool, newTransport(t, server.Port()))
}

// outcome is what a Send returned.
type outcome struct {
	result mail.Result
	err    error
}

// send sends in the background.
func send(ctx context.Context, mailer *mail.Mailer, d mail.Delivery) <-chan outcome {
	ch := make(chan outcome, 1)
	go func() {
		result, err := mailer.Send(ctx, d, message())
		ch <- outcome{result, err}
	}()
	return ch
}

// sendCalm sends again and again while the key is busy, as the job would, and
// returns the first other outcome.
func sendCalm(t testing.TB, mailer *mail.Mailer, d mail.Delivery) outcome {
	t.Helper()
	var o outcome
	require.Eventually(t, func() bool {
		o.result, o.err = mailer.Send(context.WithoutCancel(t.Context()), d, message())
		return !errors.Is(o.err, mail.ErrBusy)
	}, patience, 20*time.Millisecond)
	return o
}

func await[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		require.FailNow(t, "what must come did not come")
		panic("unreachable")
	}
}

func status(t testing.TB, mailer *mail.Mailer, d mail.Delivery) *mail.Record {
	t.Helper()
	record, err := mailer.GetDelivery(t.Context(), d.Tenant, d.Key)
	require.NoError(t, err)
	return record
}

func execSQL(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}
