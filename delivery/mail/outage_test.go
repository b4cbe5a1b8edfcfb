package mail_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/pgtest"
)

// durable are the settings of a server whose crash must lose nothing.
var durable = pgtest.Settings{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}

// PostgreSQL stops between the server's 250 and the record of it, and comes
// back after the lease would have ended, with another worker waiting for the
// key: the result was held and is written, and there is one copy.
func TestOutageBetweenTheReplyAndItsRecord(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*pgtest.Server, context.Context) error{
		"planned": func(s *pgtest.Server, ctx context.Context) error { return s.Halt(ctx) },
		"crash":   func(s *pgtest.Server, ctx context.Context) error { return s.Crash(ctx) },
	} {
		for _, d := range []mail.Delivery{welcome, held} {
			t.Run(name+" "+string(d.OnUnknown), func(t *testing.T) {
				t.Parallel()
				database := pgtest.NewServer(t, durable)
				pool := database.New(t)
				hold := smtptest.NewHold()
				server := newServer(t, smtptest.Rule{At: smtptest.Dot, Hold: hold})
				mailer := newMailer(t, pool, newTransport(t, server.Port()))
				other := newMailer(t, pgtest.Connect(t, pgtest.URL(pool)), newTransport(t, server.Port()))

				sending := send(t.Context(), mailer, d)
				await(t, hold.Reached())
				claimedUntil := status(t, mailer, d).ClaimedUntil
				require.NoError(t, end(database, t.Context()))
				hold.Release()
				require.Eventually(t, func() bool { return time.Now().After(claimedUntil) }, patience, 10*time.Millisecond)
				assert.Empty(t, sending, "Send does not return before its result is recorded")
				require.NoError(t, database.Resume(t.Context()))

				// The other one tries as soon as it can.
				var o outcome
				require.Eventually(t, func() bool {
					o.result, o.err = other.Send(context.WithoutCancel(t.Context()), d, message())
					return o.err == nil
				}, patience, time.Millisecond)
				assert.True(t, o.result.AlreadySent)
				require.NoError(t, await(t, sending).err)
				assert.Equal(t, 1, server.Accepted())
				record := status(t, mailer, d)
				assert.Equal(t, mail.StatusSent, record.Status)
				assert.EqualValues(t, 1, record.ClaimNumber)
			})
		}
	}
}

// A worker that could not renew its claim, since the database is away, sends
// nothing once its own clock says that the claim has ended.
func TestOutageBeforeTheDot(t *testing.T) {
	t.Parallel()
	for _, d := range []mail.Delivery{welcome, held} {
		t.Run(string(d.OnUnknown), func(t *testing.T) {
			t.Parallel()
			database := pgtest.NewServer(t, durable)
			pool := database.New(t)
			hold := smtptest.NewHold()
			server := newServer(t, smtptest.Rule{At: smtptest.Rcpt, Times: 1, Hold: hold})
			mailer := newMailer(t, pool, newTransport(t, server.Port()))
			sending := send(t.Context(), mailer, d)
			await(t, hold.Reached())
			claimedUntil := status(t, mailer, d).ClaimedUntil
			require.NoError(t, database.Halt(t.Context()))
			require.Eventually(t, func() bool { return time.Now().After(claimedUntil) }, patience, 10*time.Millisecond)
			hold.Release()
			require.Error(t, await(t, sending).err)
			assert.Zero(t, server.Accepted())

			require.NoError(t, database.Resume(t.Context()))
			var o outcome
			require.Eventually(t, func() bool {
				o.result, o.err = mailer.Send(context.WithoutCancel(t.Context()), d, message())
				return o.err == nil
			}, patience, 20*time.Millisecond)
			assert.False(t, o.result.AlreadySent)
			assert.Equal(t, 1, server.Accepted())
		})
	}
}
