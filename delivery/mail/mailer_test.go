package mail_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/retry"
)

func TestSendOnce(t *testing.T) {
	t.Parallel()
	_, server, mailer := newHouse(t)
	first, err := mailer.Send(t.Context(), welcome, message())
	require.NoError(t, err)
	assert.False(t, first.AlreadySent)
	require.Len(t, server.Messages(), 1)
	assert.Equal(t, first.MessageID, server.Messages()[0].MessageID())
	assert.True(t, strings.HasSuffix(first.MessageID, "@acme.example"), first.MessageID)
	assert.NotContains(t, first.MessageID, "42", "nothing of the key can be read from it")

	again, err := mailer.Send(t.Context(), welcome, message())
	require.NoError(t, err)
	assert.Equal(t, mail.Result{AlreadySent: true, MessageID: first.MessageID, Response: first.Response}, again)
	assert.Len(t, server.Messages(), 1)

	record := status(t, mailer, welcome)
	assert.Equal(t, mail.StatusSent, record.Status)
	assert.Equal(t, 1, record.Attempts)
	assert.Equal(t, "welcome", record.Kind)
	assert.NotEmpty(t, record.Response, "the server's words are kept")
	assert.False(t, record.SentAt.IsZero())
}

func TestKeysAreUniqueWithinATenant(t *testing.T) {
	t.Parallel()
	_, server, mailer := newHouse(t)
	ids := map[string]bool{}
	for _, d := range []mail.Delivery{
		{Tenant: "acme", Key: "purchase-confirmed:1", Kind: "k"},
		{Tenant: "otro", Key: "purchase-confirmed:1", Kind: "k"},
		{Tenant: "acme", Key: "purchase-confirmed:2", Kind: "k"},
	} {
		result, err := mailer.Send(t.Context(), d, message())
		require.NoError(t, err)
		assert.False(t, result.AlreadySent)
		ids[result.MessageID] = true
	}
	assert.Len(t, ids, 3)
	assert.Len(t, server.Messages(), 3)
}

func TestMessageIDOfAnInternationalDomain(t *testing.T) {
	t.Parallel()
	_, server, mailer := newHouse(t)
	m := message()
	m.From.Address = "hola@muñoz.example"
	result, err := mailer.Send(t.Context(), welcome, m)
	require.NoError(t, err)
	assert.True(t, strings.HasSuffix(result.MessageID, "@xn--muoz-hqa.example"), result.MessageID)
	assert.Equal(t, 1, server.Copies(result.MessageID))
}

// 32 workers want one key: one sends, all the others either come back later,
// at no cost, or learn that it was sent.
func TestOneOfManyClaims(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	_, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Dot, Hold: hold})
	const workers = 32
	var sent, busy atomic.Int64
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			result, err := mailer.Send(ctx, welcome, message())
			switch delay, after := retry.AfterDelay(err); {
			case err == nil && !result.AlreadySent:
				sent.Add(1)
			case errors.Is(err, mail.ErrBusy) && after:
				assert.Greater(t, delay, time.Duration(0))
				assert.LessOrEqual(t, delay, lease+time.Second)
				if busy.Add(1) == workers-1 {
					hold.Release() // everybody else has come and gone
				}
			default:
				assert.NoError(t, err)
			}
		})
	}
	wg.Wait()
	assert.EqualValues(t, 1, sent.Load())
	assert.EqualValues(t, workers-1, busy.Load())
	assert.Equal(t, 1, server.Accepted())
	assert.EqualValues(t, 1, status(t, mailer, welcome).ClaimNumber)
}

func TestTemporaryRefusalThenSent(t *testing.T) {
	t.Parallel()
	_, server, mailer := newHouse(t, smtptest.Rule{
		At: smtptest.Dot, Times: 1, Reply: smtptest.Reply{Code: 451, Enhanced: "4.3.0", Text: "try again"},
	})
	_, err := mailer.Send(t.Context(), welcome, message())
	require.ErrorContains(t, err, "451 4.3.0")
	assert.False(t, retry.IsPermanent(err))
	_, postponed := retry.AfterDelay(err)
	assert.False(t, postponed, "the strategy decides")
	failed := status(t, mailer, welcome)
	assert.Equal(t, mail.StatusFailed, failed.Status)
	assert.Contains(t, failed.LastError, "451 4.3.0")

	result, err := mailer.Send(t.Context(), welcome, message())
	require.NoError(t, err)
	sent := status(t, mailer, welcome)
	assert.Equal(t, 2, sent.Attempts)
	assert.Empty(t, sent.LastError)
	require.Equal(t, 1, server.Accepted())
	parsed, err := server.Messages()[0].Parse()
	require.NoError(t, err)
	assert.Equal(t, result.MessageID, parsed.MessageID)
	date, err := parsed.Header.Date()
	require.NoError(t, err)
	assert.WithinDuration(t, failed.CreatedAt, date, time.Second, "the date is the first attempt's")
}

func TestPermanentRefusal(t *testing.T) {
	t.Parallel()
	_, server, mailer := newHouse(t, smtptest.Rule{
		At: smtptest.Rcpt, Times: 1, Reply: smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "<ana@example.net>: no such user"},
	})
	_, err := mailer.Send(t.Context(), welcome, message())
	assert.True(t, retry.IsPermanent(err))
	require.ErrorContains(t, err, `send "welcome:acme:42"`)
	require.ErrorContains(t, err, "550 5.1.1")
	assert.NotContains(t, err.Error(), "ana@example.net")
	var sendErr *mail.SendError
	require.ErrorAs(t, err, &sendErr)
	assert.Equal(t, mail.ReachRecipient, sendErr.Reach)
	record := status(t, mailer, welcome)
	assert.Equal(t, mail.StatusFailed, record.Status)
	assert.NotContains(t, record.LastError, "ana@example.net")

	_, err = mailer.Send(t.Context(), welcome, message())
	require.NoError(t, err, "whoever put the address right may try again")
	assert.Equal(t, 1, server.Accepted())
}

// The reply to the dot is lost. A kind with the default policy is sent again,
// with the same Message-ID, so that receivers can tell.
func TestUnknownOutcomeIsResent(t *testing.T) {
	t.Parallel()
	_, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Dot, Times: 1, Drop: true})
	_, err := mailer.Send(t.Context(), welcome, message())
	var sendErr *mail.SendError
	require.ErrorAs(t, err, &sendErr)
	assert.Equal(t, mail.Unknown, sendErr.Certainty)
	assert.False(t, retry.IsPermanent(err))
	assert.Equal(t, mail.StatusUnknown, status(t, mailer, welcome).Status)

	result, err := mailer.Send(t.Context(), welcome, message())
	require.NoError(t, err)
	assert.Equal(t, 2, server.Copies(result.MessageID))
	assert.Equal(t, mail.StatusSent, status(t, mailer, welcome).Status)
}

// With the policy hold nobody sends again until somebody has decided.
func TestUnknownOutcomeIsHeld(t *testing.T) {
	t.Parallel()
	for resolution, want := range map[mail.Resolution]struct {
		status      mail.Status
		alreadySent bool
		copies      int
	}{
		mail.MarkSent:  {mail.StatusSent, true, 1},
		mail.SendAgain: {mail.StatusFailed, false, 2},
	} {
		t.Run(string(resolution), func(t *testing.T) {
			t.Parallel()
			_, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Dot, Times: 1, Drop: true})
			for range 3 {
				_, err := mailer.Send(t.Context(), held, message())
				require.ErrorIs(t, err, mail.ErrOnHold)
				delay, after := retry.AfterDelay(err)
				assert.True(t, after, "waiting spends no retry")
				assert.Equal(t, time.Minute, delay)
			}
			assert.Equal(t, 1, server.Accepted())
			onHold, err := mailer.ListDeliveries(t.Context(), mail.DeliveryFilter{Status: mail.StatusUnknown, OnUnknown: mail.Hold})
			require.NoError(t, err)
			require.Len(t, onHold, 1)
			require.NoError(t, testutil.CollectAndCompare(mailer.Collector(), strings.NewReader(`
				# HELP buzon_deliveries_on_hold E-mails whose outcome is unknown and that wait for somebody to resolve them.
				# TYPE buzon_deliveries_on_hold gauge
				buzon_deliveries_on_hold 1
			`), "buzon_deliveries_on_hold"))

			// A kind whose policy was changed later does not release what is held.
			_, err = mailer.Send(t.Context(), welcome, message())
			require.ErrorIs(t, err, mail.ErrOnHold)

			require.NoError(t, mailer.Resolve(t.Context(), held.Tenant, held.Key, resolution, "ana", "asked the customer"))
			record := status(t, mailer, held)
			assert.Equal(t, want.status, record.Status)
			assert.Equal(t, "ana", record.ResolvedBy)
			assert.Equal(t, "asked the customer", record.ResolveReason)
			assert.False(t, record.ResolvedAt.IsZero())

			result, err := mailer.Send(t.Context(), held, message())
			require.NoError(t, err)
			assert.Equal(t, want.alreadySent, result.AlreadySent)
			assert.Equal(t, want.copies, server.Copies(result.MessageID))
		})
	}
}

// A kind that gets the policy hold while an outcome is unknown is held from
// there on, and shows among what is on hold.
func TestPolicyThatBecomesHold(t *testing.T) {
	t.Parallel()
	_, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Dot, Times: 1, Drop: true})
	_, err := mailer.Send(t.Context(), welcome, message())
	require.Error(t, err)
	_, err = mailer.Send(t.Context(), held, message())
	require.ErrorIs(t, err, mail.ErrOnHold)
	onHold, err := mailer.ListDeliveries(t.Context(), mail.DeliveryFilter{Status: mail.StatusUnknown, OnUnknown: mail.Hold})
	require.NoError(t, err)
	assert.Len(t, onHold, 1)
	assert.Equal(t, 1, server.Accepted())
}

// panicking is a Sender that panics before or after it was told that the dot may
// be written.
type panicking struct{ after bool }

func (p panicking) Send(ctx context.Context, _ *mail.Message, commit func(context.Context) error) (mail.Receipt, error) {
	if p.after {
		if err := commit(ctx); err != nil {
			return mail.Receipt{}, err
		}
	}
	panic("sender")
}

// A Sender that panics leaves no claim behind, and what is certain is recorded.
func TestSenderThatPanics(t *testing.T) {
	t.Parallel()
	for after, want := range map[bool]mail.Status{false: mail.StatusFailed, true: mail.StatusUnknown} {
		mailer := newMailer(t, pgtest.New(t), panicking{after})
		_, err := mailer.Send(t.Context(), welcome, message())
		require.ErrorContains(t, err, "the sender panicked: sender")
		assert.False(t, retry.IsPermanent(err))
		assert.Equal(t, want, status(t, mailer, welcome).Status)
	}
}

// A caller whose context has ended claims nothing.
func TestEndedContextClaimsNothing(t *testing.T) {
	t.Parallel()
	_, server, mailer := newHouse(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := mailer.Send(ctx, welcome, message())
	require.ErrorIs(t, err, context.Canceled)
	_, err = mailer.GetDelivery(t.Context(), welcome.Tenant, welcome.Key)
	require.ErrorIs(t, err, mail.ErrNotFound)
	assert.Zero(t, server.Accepted())
}

// A context that ends while the claim is being asked for leaves no claim that
// nobody owns.
func TestContextThatEndsDuringTheClaim(t *testing.T) {
	t.Parallel()
	pool, server, mailer := newHouse(t)
	execSQL(t, pool, `INSERT INTO buzon.email_deliveries (tenant, delivery_key, kind, on_unknown, message_id, status, claimed_until)
		VALUES ($1, $2, $3, 'resend', 'x@y', 'failed', now())`, welcome.Tenant, welcome.Key, welcome.Kind)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM buzon.email_deliveries FOR UPDATE")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	sending := send(ctx, mailer, welcome)
	require.Eventually(t, func() bool { // the claim waits for the row
		var waiting int
		err := pool.QueryRow(context.WithoutCancel(t.Context()), `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting == 1
	}, patience, time.Millisecond)
	cancel()
	require.NoError(t, tx.Rollback(t.Context()))
	require.ErrorIs(t, await(t, sending).err, context.Canceled)
	assert.Equal(t, mail.StatusFailed, status(t, mailer, welcome).Status, "the next attempt need not wait")
	assert.Zero(t, server.Accepted())
}

func TestResolveRefusals(t *testing.T) {
	t.Parallel()
	_, _, mailer := newHouse(t)
	_, err := mailer.Send(t.Context(), welcome, message())
	require.NoError(t, err)
	require.ErrorIs(t, mailer.Resolve(t.Context(), "acme", welcome.Key, mail.SendAgain, "ana", "why"), mail.ErrNotOnHold)
	require.ErrorIs(t, mailer.Resolve(t.Context(), "otro", welcome.Key, mail.SendAgain, "ana", "why"), mail.ErrNotFound)
	err = mailer.Resolve(t.Context(), "acme", welcome.Key, "perhaps", "", "")
	require.ErrorContains(t, err, `resolution is "perhaps"`)
	require.ErrorContains(t, err, "by is empty")
	require.ErrorContains(t, err, "reason is empty")
}

// The claim is renewed while a slow server is waited for, so that nobody else
// takes it.
func TestClaimIsRenewedWhileTheServerIsSlow(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	pool, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Dot, Hold: hold})
	sending := send(t.Context(), mailer, welcome)
	await(t, hold.Reached())
	first := status(t, mailer, welcome).ClaimedUntil
	other := newMailer(t, pool, newTransport(t, server.Port()))
	require.Eventually(t, func() bool {
		_, err := other.Send(context.WithoutCancel(t.Context()), welcome, message())
		return assert.ErrorIs(t, err, mail.ErrBusy) && status(t, mailer, welcome).ClaimedUntil.Sub(first) > 2*lease
	}, patience, 50*time.Millisecond)
	execSQL(t, pool, "UPDATE buzon.email_deliveries SET expiry_seen_at = 'epoch'")
	require.Eventually(t, func() bool {
		var cleared bool
		err := pool.QueryRow(context.WithoutCancel(t.Context()), "SELECT expiry_seen_at IS NULL FROM buzon.email_deliveries").Scan(&cleared)
		return err == nil && cleared
	}, patience, 20*time.Millisecond, "an owner that renews takes the notice back")
	hold.Release()
	require.NoError(t, await(t, sending).err)
	assert.Equal(t, 1, server.Accepted())
	assert.EqualValues(t, 1, status(t, mailer, welcome).ClaimNumber)
}

// A worker that lost its claim before the dot sends nothing.
func TestLostClaimBeforeTheDot(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	pool, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Rcpt, Times: 1, Hold: hold})
	sending := send(t.Context(), mailer, welcome)
	await(t, hold.Reached())
	execSQL(t, pool, "UPDATE buzon.email_deliveries SET claim_number = claim_number + 1, claimed_until = now() + interval '1 hour'")
	o := await(t, sending) // the renewal found out
	require.ErrorIs(t, o.err, mail.ErrClaimLost)
	delay, after := retry.AfterDelay(o.err)
	assert.True(t, after, "it spends no retry")
	assert.Greater(t, delay, 59*time.Minute, "and comes back when the other's claim can have ended")
	hold.Release()
	assert.Zero(t, server.Accepted())
	record := status(t, mailer, welcome)
	assert.Equal(t, mail.StatusProcessing, record.Status, "the other's claim is untouched")
	assert.Empty(t, record.LastError)
}

// A claim that is found expired is left to its owner for a moment, who may just
// have got the database back; only then it is taken over.
func TestExpiredClaimGetsNotice(t *testing.T) {
	t.Parallel()
	pool, server, mailer := newHouse(t)
	execSQL(t, pool, `INSERT INTO buzon.email_deliveries (tenant, delivery_key, kind, on_unknown, message_id, claimed_until)
		VALUES ($1, $2, $3, 'resend', 'x@y', now() - interval '1 second')`, welcome.Tenant, welcome.Key, welcome.Kind)
	seen := func() (seen bool) {
		require.NoError(t, pool.QueryRow(context.WithoutCancel(t.Context()),
			"SELECT expiry_seen_at IS NOT NULL FROM buzon.email_deliveries").Scan(&seen))
		return seen
	}
	require.Eventually(t, func() bool { // in the first lease time of the server it is not even that
		_, err := mailer.Send(context.WithoutCancel(t.Context()), welcome, message())
		return errors.Is(err, mail.ErrBusy) && seen() || server.Accepted() > 0
	}, patience, time.Millisecond)
	assert.Zero(t, server.Accepted(), "the one that found it expired has not sent")
	require.NoError(t, sendCalm(t, mailer, welcome).err)
	assert.Equal(t, 1, server.Accepted())
	assert.False(t, seen(), "a new claim starts afresh")
}

// The first worker lost its claim while it waited for the reply to the dot, and
// then got it: it writes "sent" all the same. The claim's new owner, before its
// own dot, learns of that and sends nothing.
func TestSentIsWrittenByWhoeverGotTheReply(t *testing.T) {
	t.Parallel()
	atDot, atRcpt := smtptest.NewHold(), smtptest.NewHold()
	pool, server, first := newHouse(t,
		smtptest.Rule{At: smtptest.Dot, Times: 1, Hold: atDot},
		smtptest.Rule{At: smtptest.Rcpt, Skip: 1, Times: 1, Hold: atRcpt})
	second := newMailer(t, pool, newTransport(t, server.Port()))

	one := send(t.Context(), first, welcome)
	await(t, atDot.Reached())
	// The second worker takes the claim over, as after a lease without renewal.
	var two <-chan outcome
	require.Eventually(t, func() bool {
		execSQL(t, pool, "UPDATE buzon.email_deliveries SET claimed_until = now() - interval '1 second', expiry_seen_at = 'epoch'")
		two = send(context.WithoutCancel(t.Context()), second, welcome)
		select {
		case <-atRcpt.Reached():
			return true
		case o := <-two:
			return !assert.ErrorIs(t, o.err, mail.ErrBusy)
		}
	}, patience, 20*time.Millisecond)
	assert.EqualValues(t, 2, status(t, first, welcome).ClaimNumber)

	atDot.Release()
	o := await(t, one)
	require.NoError(t, o.err)
	assert.Equal(t, mail.StatusSent, status(t, first, welcome).Status)

	o = await(t, two)
	require.NoError(t, o.err)
	assert.True(t, o.result.AlreadySent)
	atRcpt.Release()
	assert.Equal(t, 1, server.Accepted())
	assert.Equal(t, mail.StatusSent, status(t, first, welcome).Status)
}

// The new owner of a kind that is held asks the database right before its dot.
func TestMarkBeforeTheDotFindsALostClaim(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	pool, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Rcpt, Times: 1, Hold: hold})
	sending := send(t.Context(), mailer, held)
	await(t, hold.Reached())
	execSQL(t, pool, "UPDATE buzon.email_deliveries SET status = 'sent', sent_at = now()")
	hold.Release()
	o := await(t, sending)
	require.NoError(t, o.err)
	assert.True(t, o.result.AlreadySent)
	assert.Zero(t, server.Accepted())
}

// A worker of a held kind that dies before its mark was harmless; one that dies
// after it may have sent.
func TestDeadWorkerOfAHeldKind(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		transmitting bool
		want         error
	}{
		"before the mark": {false, nil},
		"after the mark":  {true, mail.ErrOnHold},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool, server, mailer := newHouse(t)
			execSQL(t, pool, `INSERT INTO buzon.email_deliveries (tenant, delivery_key, kind, on_unknown, message_id, claimed_until, transmitting)
				VALUES ($1, $2, $3, 'hold', 'x@y', now() - interval '1 second', $4)`, held.Tenant, held.Key, held.Kind, c.transmitting)
			o := sendCalm(t, mailer, held)
			require.ErrorIs(t, o.err, c.want)
			if c.want != nil {
				assert.Zero(t, server.Accepted())
				record := status(t, mailer, held)
				assert.Equal(t, mail.StatusUnknown, record.Status)
				assert.Contains(t, record.LastError, "died")
				return
			}
			assert.Equal(t, 1, server.Copies("x@y"), "with the Message-ID of the first attempt")
		})
	}
}

// An attempt that its caller cancels is recorded, so that the next one need not
// wait for the claim's end.
func TestCancelledSendCanBeTakenUpAtOnce(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	_, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Rcpt, Times: 1, Hold: hold})
	ctx, cancel := context.WithCancel(t.Context())
	sending := send(ctx, mailer, welcome)
	await(t, hold.Reached())
	cancel()
	o := await(t, sending)
	require.Error(t, o.err)
	assert.False(t, retry.IsPermanent(o.err))
	assert.Equal(t, mail.StatusFailed, status(t, mailer, welcome).Status)
	hold.Release()
	_, err := mailer.Send(t.Context(), welcome, message())
	require.NoError(t, err)
	assert.Equal(t, 1, server.Accepted())
}

// A caller that gives up between the dot and its reply does not keep "sent" from
// being recorded.
func TestSentIsRecordedForACallerThatGaveUp(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	_, server, mailer := newHouse(t, smtptest.Rule{At: smtptest.Dot, Hold: hold})
	ctx, cancel := context.WithCancel(t.Context())
	sending := send(ctx, mailer, welcome)
	await(t, hold.Reached())
	cancel()
	hold.Release()
	require.NoError(t, await(t, sending).err)
	assert.Equal(t, mail.StatusSent, status(t, mailer, welcome).Status)
	assert.Equal(t, 1, server.Accepted())
}

// No transaction is open while SMTP is spoken, at whichever phase.
func TestNoTransactionIsOpenDuringSMTP(t *testing.T) {
	t.Parallel()
	for _, phase := range []smtptest.Phase{smtptest.Mail, smtptest.Rcpt, smtptest.Body, smtptest.Dot} {
		for _, d := range []mail.Delivery{welcome, held} {
			t.Run(string(phase)+" "+string(d.OnUnknown), func(t *testing.T) {
				t.Parallel()
				hold := smtptest.NewHold()
				pool, _, mailer := newHouse(t, smtptest.Rule{At: phase, Hold: hold})
				watcher := pgtest.Connect(t, pgtest.URL(pool))
				sending := send(t.Context(), mailer, d)
				await(t, hold.Reached())
				var connections, open int
				require.NoError(t, watcher.QueryRow(t.Context(), `SELECT count(*), count(xact_start) FROM pg_stat_activity
					WHERE datname = current_database() AND pid <> pg_backend_pid()`).Scan(&connections, &open))
				assert.Positive(t, connections, "the mailer's connections are seen")
				assert.Zero(t, open)
				hold.Release()
				require.NoError(t, await(t, sending).err)
			})
		}
	}
}

func TestSendRefusesBadInput(t *testing.T) {
	t.Parallel()
	pool, server, mailer := newHouse(t)
	for _, c := range []struct {
		delivery mail.Delivery
		change   func(*mail.Message)
		want     string
	}{
		{mail.Delivery{}, nil, "Tenant is empty\nKey is empty\nKind is empty"},
		{mail.Delivery{Tenant: "a", Key: "k\x00", Kind: "k"}, nil, "Key holds a NUL"},
		{mail.Delivery{Tenant: "a", Key: strings.Repeat("k", 1501), Kind: "k"}, nil, "Key has 1501 bytes"},
		{mail.Delivery{Tenant: "a", Key: "k", Kind: "k", OnUnknown: "perhaps"}, nil, `OnUnknown is "perhaps"`},
		{welcome, func(m *mail.Message) { m.From.Address = "" }, "From: "},
	} {
		m := message()
		if c.change != nil {
			c.change(&m)
		}
		_, err := mailer.Send(t.Context(), c.delivery, m)
		require.ErrorContains(t, err, c.want)
		assert.True(t, retry.IsPermanent(err))
	}
	var rows int
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM buzon.email_deliveries").Scan(&rows))
	assert.Zero(t, rows)

	// What only the sender can see is refused once the key is claimed.
	m := message()
	m.Subject = "two\r\nlines"
	_, err := mailer.Send(t.Context(), welcome, m)
	assert.True(t, retry.IsPermanent(err))
	assert.Equal(t, mail.StatusFailed, status(t, mailer, welcome).Status)
	assert.Zero(t, server.Accepted())
}

func TestMailerWithoutMigration(t *testing.T) {
	t.Parallel()
	server := newServer(t)
	mailer := newMailer(t, pgtest.NewEmpty(t), newTransport(t, server.Port()))
	_, err := mailer.Send(t.Context(), welcome, message())
	require.ErrorIs(t, err, mail.ErrNotMigrated)
	require.ErrorContains(t, err, `schema "buzon"`)
	require.ErrorIs(t, mailer.Ready(t.Context()), mail.ErrNotMigrated)
	assert.Zero(t, server.Connections(), "nothing is sent that could not be recorded")
}

func TestMalformedLeaseEndsNewMailer(t *testing.T) {
	for _, value := range []string{"0", "-5", "5m", "1.5", "x", "99999999999"} {
		t.Setenv(mail.EnvLease, value)
		_, err := mail.NewMailer(nil, mail.MailerConfig{Retention: -1})
		require.ErrorContains(t, err, `EMAIL_DELIVERY_LEASE_SECONDS="`+value+`"`)
		require.ErrorContains(t, err, "the pool is nil")
		require.ErrorContains(t, err, "Sender is nil")
		require.ErrorContains(t, err, "Retention is -1ns")
	}
}

func TestLeaseFromTheEnvironment(t *testing.T) {
	t.Setenv(mail.EnvLease, "7200")
	pool := pgtest.New(t)
	hold := smtptest.NewHold()
	server := newServer(t, smtptest.Rule{At: smtptest.Dot, Hold: hold})
	mailer, err := mail.NewMailer(pool, mail.MailerConfig{Sender: newTransport(t, server.Port())})
	require.NoError(t, err)
	sending := send(t.Context(), mailer, welcome)
	await(t, hold.Reached())
	assert.WithinDuration(t, time.Now().Add(2*time.Hour), status(t, mailer, welcome).ClaimedUntil, time.Minute)
	hold.Release()
	require.NoError(t, await(t, sending).err)
}

func TestListDeliveries(t *testing.T) {
	t.Parallel()
	_, _, mailer := newHouse(t)
	for _, d := range []mail.Delivery{
		{Tenant: "acme", Key: "a", Kind: "welcome"}, {Tenant: "acme", Key: "b", Kind: "reset"}, {Tenant: "otro", Key: "a", Kind: "welcome"},
	} {
		_, err := mailer.Send(t.Context(), d, message())
		require.NoError(t, err)
	}
	keys := func(filter mail.DeliveryFilter) (keys []string) {
		records, err := mailer.ListDeliveries(t.Context(), filter)
		require.NoError(t, err)
		for _, r := range records {
			keys = append(keys, r.Tenant+"/"+r.Key)
		}
		return keys
	}
	assert.Equal(t, []string{"otro/a", "acme/b", "acme/a"}, keys(mail.DeliveryFilter{}))
	assert.Equal(t, []string{"acme/b", "acme/a"}, keys(mail.DeliveryFilter{Tenant: "acme", Status: mail.StatusSent}))
	assert.Equal(t, []string{"otro/a"}, keys(mail.DeliveryFilter{Kind: "welcome", Limit: 1}))
	assert.Empty(t, keys(mail.DeliveryFilter{Tenant: "' OR true --"}))
	_, err := mailer.ListDeliveries(t.Context(), mail.DeliveryFilter{Limit: -1})
	require.ErrorContains(t, err, "Limit is -1")
	_, err = mailer.GetDelivery(t.Context(), "acme", "nothing")
	require.ErrorIs(t, err, mail.ErrNotFound)
}

func TestHousekeeping(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	execSQL(t, pool, `INSERT INTO buzon.email_deliveries (tenant, delivery_key, kind, on_unknown, message_id, status, sent_at, updated_at)
		SELECT 't', s || n, 'k', 'resend', 'x@y', s, CASE s WHEN 'sent' THEN at END, at
		FROM unnest(ARRAY['sent', 'failed', 'unknown']) s, generate_series(1, 1500) n,
			LATERAL (SELECT now() - CASE WHEN n <= 1200 THEN interval '2 days' ELSE interval '1 minute' END AS at) a`)
	mailer, err := mail.NewMailer(pool, mail.MailerConfig{Sender: newTransport(t, 1), Retention: 24 * time.Hour})
	require.NoError(t, err)
	require.NoError(t, mailer.Housekeeping(t.Context()))
	rows, err := pool.Query(t.Context(), "SELECT status, count(*)::int FROM buzon.email_deliveries GROUP BY 1")
	require.NoError(t, err)
	left := map[string]int{}
	var s string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&s, &n}, func() error { left[s] = n; return nil })
	require.NoError(t, err)
	assert.Equal(t, map[string]int{"sent": 300, "failed": 300, "unknown": 1500}, left, "what waits for a decision stays")

	forever, err := mail.NewMailer(pool, mail.MailerConfig{Sender: newTransport(t, 1)})
	require.NoError(t, err)
	require.NoError(t, forever.Housekeeping(t.Context()))
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*)::int FROM buzon.email_deliveries").Scan(&n))
	assert.Equal(t, 2100, n, "by default a key is remembered for ever")
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	_, _, mailer := newHouse(t)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(mailer.Collector())
	for range 2 {
		_, err := mailer.Send(t.Context(), welcome, message())
		require.NoError(t, err)
	}
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
		# HELP buzon_deliveries_total Calls to send an e-mail, by kind and outcome (sent, already_sent, failed, unknown, on_hold, busy, claim_lost, error).
		# TYPE buzon_deliveries_total counter
		buzon_deliveries_total{kind="welcome",outcome="already_sent"} 1
		buzon_deliveries_total{kind="welcome",outcome="sent"} 1
	`), "buzon_deliveries_total"))
}
