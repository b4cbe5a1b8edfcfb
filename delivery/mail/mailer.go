package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/internal/pgtext"
	"github.com/buzon-go/buzon/internal/timing"
	"github.com/buzon-go/buzon/retry"
)

// Keys of log attributes.
const (
	logError  = "error"
	logTenant = "tenant"
	logKey    = "delivery_key"
)

// A Mailer sends one e-mail for each business key. It is safe for concurrent
// use, and starts no goroutine that outlives a call.
type Mailer struct {
	pool   *pgxpool.Pool
	store  *store
	config MailerConfig
	log    *slog.Logger
	stats  *stats
}

// Sender returns what the mailer sends through, for an e-mail that is to be sent
// each time it is asked for, such as a test, and has no business key.
func (m *Mailer) Sender() Sender { return m.config.Sender }

// A Result is what [Mailer.Send] did.
type Result struct {
	// AlreadySent: an earlier call had sent the e-mail; this one sent nothing.
	AlreadySent bool
	// MessageID is that of the e-mail, without its angle brackets.
	MessageID string
	// Response is what the server said when it took the message.
	Response string
}

// Send sends the e-mail of d.Key unless that was done before, in which case
// the result says AlreadySent. It fills in the message's Tenant, MessageID and
// Date. It takes the key with a committed claim, sends with no transaction
// open, renewing the claim meanwhile, and records the result.
//
// Once the server has taken the message, Send returns only when that is
// recorded, however long the database is away and also when ctx has ended:
// the record is what keeps the e-mail from being sent again.
//
// The error tells the caller's job what to do, in the terms of package retry:
// [retry.Permanent] for a refusal that will not pass (see
// [SendError.Retryable]) and for faults in d or message;
// [retry.After], which spends no retry, for [ErrBusy], [ErrOnHold] and
// [ErrClaimLost]; anything else can be tried again. It wraps the [SendError]
// where there is one.
func (m *Mailer) Send(ctx context.Context, d Delivery, message Message) (Result, error) {
	if d.OnUnknown == "" {
		d.OnUnknown = Resend
	}
	if err := d.validate(); err != nil {
		return Result{}, retry.Permanent(fmt.Errorf("mail: send %q: %w", d.Key, err))
	}
	id, err := MessageID(d.Tenant, d.Key, message.From.Address)
	if err != nil {
		return Result{}, retry.Permanent(fmt.Errorf("mail: send %q: From: %w", d.Key, err))
	}
	result, outcome, err := m.send(ctx, d, id, message)
	m.stats.deliveries.WithLabelValues(d.Kind, string(outcome)).Inc()
	if err != nil {
		return Result{}, fmt.Errorf("mail: send %q: %w", d.Key, err)
	}
	return result, nil
}

func (m *Mailer) send(ctx context.Context, d Delivery, id string, message Message) (Result, outcome, error) {
	if ctx.Err() != nil {
		return Result{}, outcomeError, context.Cause(ctx)
	}
	asked := time.Now() // before the database starts to count
	var c *claim
	var found *row
	// A claim that was asked for is waited for, also when ctx ends: nobody
	// would own it, and the key would wait for its end.
	err := timing.Within(context.WithoutCancel(ctx), claimTimeout, func(ctx context.Context) (err error) {
		c, found, err = m.claim(ctx, d, id)
		return err
	})
	switch {
	case errors.Is(err, ErrBusy):
		return Result{}, outcomeBusy, err
	case err != nil:
		return Result{}, outcomeError, err
	case c == nil:
		return m.notClaimed(found)
	case ctx.Err() != nil:
		m.recordFailure(ctx, d, c, StatusFailed, context.Cause(ctx))
		return Result{}, outcomeFailed, context.Cause(ctx)
	}
	message.Tenant, message.MessageID, message.Date = d.Tenant, c.messageID, c.date

	k := m.keep(ctx, c, asked)
	receipt, err := k.transmit(m.config.Sender, &message)
	if err == nil {
		m.recordSent(ctx, d, c, receipt)
		return Result{MessageID: c.messageID, Response: receipt.Response}, outcomeSent, nil
	}
	return m.notSent(ctx, d, c, k, err)
}

// claimTimeout bounds a claim, the wait for a connection of the pool included.
const claimTimeout = 15 * time.Second

// claimTries bounds the tries when the row changes between claim and look.
const claimTries = 5

// claim takes the key, or returns what stands in the way.
func (m *Mailer) claim(ctx context.Context, d Delivery, id string) (*claim, *row, error) {
	for range claimTries {
		c, err := m.store.claim(ctx, m.pool, d, id)
		if c != nil || err != nil {
			return c, nil, m.store.explain("claim", err)
		}
		found, err := m.store.look(ctx, m.pool, d)
		if err != nil {
			return nil, nil, m.store.explain("look at the claim", err)
		}
		switch {
		case found == nil, found.status == StatusFailed, found.resent(): // free meanwhile
		case found.status == StatusProcessing && found.remaining == 0:
			if err := m.expired(ctx, d, found); err != nil {
				return nil, nil, m.store.explain("take over", err)
			}
		default:
			return nil, found, m.store.explain("put on hold", m.store.hold(ctx, m.pool, found))
		}
	}
	return nil, nil, retry.After(time.Second, ErrBusy)
}

// expired does what an expired claim needs before the key can be claimed, or
// put on hold: it gives its owner notice, or finds that the owner was about to
// transmit.
func (m *Mailer) expired(ctx context.Context, d Delivery, found *row) error {
	if !found.seen {
		return m.store.seeExpiry(ctx, m.pool, found)
	}
	if !found.transmitting {
		return nil // free by now
	}
	m.log.Error("buzon: an e-mail's outcome is unknown and it is on hold", logTenant, d.Tenant, logKey, d.Key)
	return m.store.holdDead(ctx, m.pool, found)
}

// busyMargin is added to the time when another's claim can have ended.
const busyMargin = 100 * time.Millisecond

// notClaimed says why there is nothing to send now.
func (m *Mailer) notClaimed(found *row) (Result, outcome, error) {
	switch found.status {
	case StatusSent:
		return Result{AlreadySent: true, MessageID: found.messageID, Response: found.response}, outcomeAlreadySent, nil
	case StatusUnknown:
		return Result{}, outcomeOnHold, retry.After(m.config.HoldRecheck, ErrOnHold)
	default:
		return Result{}, outcomeBusy, retry.After(found.remaining+busyMargin, ErrBusy)
	}
}

// Times of the record that a message was sent. Another worker that finds the
// claim expired when the database is back gives only so much notice, so that
// the pauses are short, and so are the first tries, lest a dead connection cost
// the notice; later ones leave a slow database more time.
func recordPause(lease time.Duration) time.Duration { return min(lease/20, 500*time.Millisecond) }

func firstRecordTimeout(lease time.Duration) time.Duration { return noticeTime(lease) / 4 }

const lastRecordTimeout = 15 * time.Second

// recordSent writes "sent", however long that takes: a second e-mail is the
// price of giving up.
func (m *Mailer) recordSent(ctx context.Context, d Delivery, c *claim, receipt Receipt) {
	ctx = context.WithoutCancel(ctx)
	response := pgtext.Storable(receipt.Response)
	for limit := firstRecordTimeout(m.config.Lease); ; limit = min(2*limit, lastRecordTimeout) {
		err := timing.Within(ctx, limit, func(ctx context.Context) error {
			return m.store.sent(ctx, m.pool, c.id, response)
		})
		if err == nil {
			return
		}
		m.stats.recordErrors.Inc()
		m.log.Error("buzon: a sent e-mail cannot be recorded yet; it will be tried again",
			logTenant, d.Tenant, logKey, d.Key, logError, err)
		timing.Pause(ctx, recordPause(m.config.Lease))
	}
}

// notSent records a failed attempt and says what is to be done next.
func (m *Mailer) notSent(ctx context.Context, d Delivery, c *claim, k *keeper, err error) (Result, outcome, error) {
	var sendErr *SendError
	known := errors.As(err, &sendErr)
	if known && sendErr.Certainty == Unknown || !known && k.committed() {
		m.recordFailure(ctx, d, c, StatusUnknown, err)
		if c.onUnknown == Hold {
			m.log.Error("buzon: an e-mail's outcome is unknown and it is on hold", logTenant, d.Tenant, logKey, d.Key, logError, err)
			return Result{}, outcomeUnknown, retry.After(m.config.HoldRecheck, errors.Join(ErrOnHold, err))
		}
		return Result{}, outcomeUnknown, err
	}
	m.recordFailure(ctx, d, c, StatusFailed, err) // passes by what another worker owns
	if k.lost() {
		return m.claimLost(ctx, d)
	}
	if known && !sendErr.Retryable() {
		return Result{}, outcomeFailed, retry.Permanent(err)
	}
	return Result{}, outcomeFailed, err
}

// failureTimeout bounds the record of a failure: without it the claim just
// expires.
const failureTimeout = 5 * time.Second

func (m *Mailer) recordFailure(ctx context.Context, d Delivery, c *claim, status Status, cause error) {
	err := timing.Within(context.WithoutCancel(ctx), failureTimeout, func(ctx context.Context) error {
		_, err := m.store.failed(ctx, m.pool, c, status, pgtext.Storable(cause.Error()))
		return err
	})
	if err != nil {
		m.log.Warn("buzon: a failed e-mail cannot be recorded; its claim will expire", logTenant, d.Tenant, logKey, d.Key, logError, err)
	}
}

// claimLost tells what became of a delivery whose claim ended before the dot:
// most often the worker that had it first has sent it after all.
func (m *Mailer) claimLost(ctx context.Context, d Delivery) (Result, outcome, error) {
	var found *row
	err := timing.Within(context.WithoutCancel(ctx), failureTimeout, func(ctx context.Context) (err error) {
		found, err = m.store.look(ctx, m.pool, d)
		return err
	})
	switch {
	case err != nil || found == nil:
		return Result{}, outcomeClaimLost, retry.After(m.config.Lease, ErrClaimLost)
	case found.status == StatusSent:
		return m.notClaimed(found)
	case found.status == StatusProcessing:
		return Result{}, outcomeClaimLost, retry.After(found.remaining+busyMargin, ErrClaimLost)
	}
	return Result{}, outcomeClaimLost, retry.After(busyMargin, ErrClaimLost)
}

// Ready returns nil when the database answers and holds the table of
// deliveries as this version needs it.
func (m *Mailer) Ready(ctx context.Context) error { return m.store.probe(ctx, m.pool) }
