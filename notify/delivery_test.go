package notify_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/notify"
)

// The event belongs to the host's transaction.
func TestRolledBackEventIsNone(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	errHost := errors.New("the host thinks better of it")
	err := delivery.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
		require.NoError(t, h.outbox.Publish(t.Context(), tx, requested))
		return errHost
	})
	require.ErrorIs(t, err, errHost)

	// What is sent after it shows that it is not sent.
	h.awaitEnd(h.publish(registered))
	_, parsed := h.onlyMessage()
	assert.Contains(t, parsed.Subject, "bienvenida")
	assert.Equal(t, 1, h.jobs())
}

// However often an event is published or its job is run, and by however many
// runners, there is one e-mail.
func TestOneEventIsOneEmail(t *testing.T) {
	t.Parallel()
	for _, event := range []notify.Event{registered, requested} {
		t.Run(event.Type().JobType, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			var ids []int64
			for range 6 {
				ids = append(ids, h.publish(event))
			}
			h.run()
			h.run()
			for _, id := range ids {
				job := h.awaitEnd(id)
				assert.Equal(t, delivery.StateCompleted, job.State, job.LastError)
				assert.Zero(t, job.RetryCount, "waiting for another's claim spends no retry")
			}
			require.NoError(t, h.queue.RetryNow(t.Context(), ids[0]))
			replayed := h.await(ids[0], func(j *delivery.Job) bool { return j.State.Final() })
			assert.Equal(t, delivery.StateCompleted, replayed.State, replayed.LastError)
			h.onlyMessage()
			assert.Equal(t, 1, h.server.Accepted())
		})
	}
}

// Two tenants may have users of the same id.
func TestKeysAreTheTenants(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.host.set(func(host *host) {
		host.tenants["beta"] = host.tenants["acme"]
		host.resets["beta/a1"] = host.resets["acme/a1"]
	})
	h.run()
	h.awaitEnd(h.publish(requested))
	h.awaitEnd(h.publish(notify.PasswordResetRequested{TenantCode: "beta", AttemptID: "a1"}))
	assert.Equal(t, 2, h.server.Accepted())
	for _, tenant := range []string{"acme", "beta"} {
		record, err := h.mailer.GetDelivery(t.Context(), tenant, "password-reset:a1")
		require.NoError(t, err)
		assert.Equal(t, mail.StatusSent, record.Status)
		assert.Equal(t, notify.KindPasswordReset, record.Kind)
	}
}

// What the host no longer knows is no reason to try again.
func TestNotFoundFailsAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	nothing := func(*host) {}
	for name, c := range map[string]struct {
		event  notify.Event
		change func(*host)
		want   string
	}{
		"tenant of a user": {
			notify.UserRegistered{TenantCode: "gone", UserID: "7"}, nothing, `notify: load tenant "gone": not found`,
		},
		"user": {
			notify.UserRegistered{TenantCode: "acme", UserID: "8"}, nothing, `notify: load user "8" of tenant "acme": not found`,
		},
		"tenant of an attempt": {
			notify.PasswordResetRequested{TenantCode: "gone", AttemptID: "a1"}, nothing, `notify: load tenant "gone": not found`,
		},
		"attempt": {
			notify.PasswordResetRequested{TenantCode: "acme", AttemptID: "a8"}, nothing,
			`notify: load password reset attempt "a8" of tenant "acme": not found`,
		},
		"wrapped": {
			registered, func(h *host) { h.faults = []error{fmt.Errorf("select: %w", notify.ErrNotFound)} },
			`notify: load tenant "acme": select: not found`,
		},
	} {
		h.host.set(c.change)
		job := h.awaitEnd(h.publish(c.event))
		assert.Equal(t, delivery.StateFailed, job.State, name)
		assert.Equal(t, c.want, job.LastError, name)
		assert.EqualValues(t, 1, job.LeaseNumber, "%s: it ran once", name)
	}
	assert.Zero(t, h.server.Accepted())
}

// Any other error of the host passes.
func TestErrorsOfTheHostAreRetried(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	for i, event := range []notify.Event{registered, requested} {
		h.host.set(func(host *host) {
			fault := errors.New("no connection")
			host.faults = []error{fault, fault}
		})
		job := h.awaitEnd(h.publish(event))
		assert.Equal(t, delivery.StateCompleted, job.State)
		assert.Equal(t, 2, job.RetryCount)
		assert.Equal(t, `notify: load tenant "acme": no connection`, job.LastError)
		assert.Empty(t, job.SkipReason)
		assert.Equal(t, i+1, h.server.Accepted())
	}
}

// Where there is nothing to send, the job is done, and says why.
func TestSkipped(t *testing.T) {
	t.Parallel()
	attempt := func(change func(*notify.PasswordReset)) func(*host) {
		return func(h *host) {
			reset := newHost().resets["acme/a1"]
			change(&reset)
			h.resets["acme/a1"] = reset
		}
	}
	user := func(email string) func(*host) {
		return func(h *host) { h.users["acme/7"] = notify.User{Name: "Ana", Email: email} }
	}
	h := newHouse(t)
	h.run()
	for name, c := range map[string]struct {
		event  notify.Event
		change func(*host)
		want   string
	}{
		"not pending": {requested, attempt(func(r *notify.PasswordReset) { r.Pending = false }), "the attempt is no longer pending"},
		"expired": {
			requested, attempt(func(r *notify.PasswordReset) { r.ExpiresAt = time.Now().Add(-time.Millisecond) }),
			"the attempt has expired",
		},
		"attempt without an address": {
			requested, attempt(func(r *notify.PasswordReset) { r.User.Email = " " }), "the user has no e-mail address",
		},
		"no address": {registered, user(""), "the user has no e-mail address"},
		"bad address": {
			registered, user("ana members.example"), "the user's address cannot be used: the e-mail address cannot be parsed",
		},
		"quoted address": {
			registered, user(`"ana x"@members.example`),
			"the user's address cannot be used: the e-mail address's local part holds a character that is not allowed",
		},
	} {
		h.host.set(c.change)
		job := h.awaitEnd(h.publish(c.event))
		assert.Equal(t, delivery.StateCompleted, job.State, name)
		assert.Equal(t, c.want, job.SkipReason, name)
		assert.Empty(t, job.LastError, name)
	}
	assert.Zero(t, h.server.Accepted())
	assert.Zero(t, h.count("SELECT count(*) FROM buzon.email_deliveries"), "no key was taken")
}

// A code that expires while its e-mail waits for the server is not sent.
func TestExpiresWhileItWaits(t *testing.T) {
	t.Parallel()
	var expiry sync.Once
	h := newHouse(t, func(c *notify.MailServiceConfig) {
		c.PasswordResets = beforeReset{c.PasswordResets.(*host), func(h *host) {
			expiry.Do(func() {
				reset := h.resets["acme/a1"]
				reset.ExpiresAt = time.Now().Add(2 * time.Second)
				h.resets["acme/a1"] = reset
			})
		}}
	})
	hold := smtptest.NewHold()
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Rcpt, Hold: hold}))
	h.run()
	id := h.publish(requested)
	select {
	case <-hold.Reached():
	case <-time.After(patience):
		require.FailNow(t, "the e-mail did not get to the server")
	}
	job := h.awaitEnd(id)
	assert.Equal(t, delivery.StateCompleted, job.State)
	assert.Equal(t, "the attempt has expired", job.SkipReason)
	hold.Release()
	assert.Zero(t, h.server.Accepted())
	record, err := h.mailer.GetDelivery(t.Context(), "acme", "password-reset:a1")
	require.NoError(t, err)
	assert.Equal(t, mail.StatusFailed, record.Status, "known not to be taken")
}

// beforeReset is a host where something happens right before an attempt is
// read.
type beforeReset struct {
	*host
	happens func(*host)
}

func (b beforeReset) PasswordReset(ctx context.Context, tenantCode, attemptID string) (notify.PasswordReset, error) {
	b.set(b.happens)
	return b.host.PasswordReset(ctx, tenantCode, attemptID)
}

// The message is taken and the reply is lost: by default it is sent again, and
// looks the same.
func TestUnknownOutcomeIsSentAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Dot, Drop: true, Times: 1}))
	h.run()
	job := h.awaitEnd(h.publish(requested))
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	messages := h.server.Messages()
	require.Len(t, messages, 2)
	assert.Equal(t, messages[0].Data, messages[1].Data, "byte for byte")
}

// A kind that is on hold waits for somebody to decide.
func TestUnknownOutcomeIsHeld(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *notify.MailServiceConfig) {
		c.OnUnknown = map[string]mail.UnknownPolicy{notify.KindWelcome: mail.Hold}
	})
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Dot, Drop: true, Times: 1}))
	h.run()
	id := h.publish(registered)
	job := h.await(id, func(j *delivery.Job) bool {
		return j.State == delivery.StatePending && strings.Contains(j.LastError, "on hold")
	})
	assert.Zero(t, job.RetryCount)
	record, err := h.mailer.GetDelivery(t.Context(), "acme", "welcome:acme:7")
	require.NoError(t, err)
	assert.Equal(t, mail.StatusUnknown, record.Status)

	require.NoError(t, h.mailer.Resolve(t.Context(), "acme", record.Key, mail.MarkSent, "clerk", "it arrived"))
	require.NoError(t, h.queue.RetryNow(t.Context(), id))
	assert.Equal(t, delivery.StateCompleted, h.awaitEnd(id).State)
	h.onlyMessage()
}

// A refusal of the server is on record, without code or address.
func TestRefusedByTheServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.server.SetRules(smtptest.Rule{
		At: smtptest.Rcpt, Reply: smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "<" + address + ">: no such user"},
	}))
	h.run()
	job := h.awaitEnd(h.publish(registered))
	assert.Equal(t, delivery.StateFailed, job.State)
	assert.Contains(t, job.LastError, `notify: welcome: mail: send "welcome:acme:7"`)
	assert.Contains(t, job.LastError, "550 5.1.1")
	assert.EqualValues(t, 1, job.LeaseNumber)
	assert.NotContains(t, job.LastError, address)
}

// Codes are in the e-mail and nowhere else, and addresses in no log or error,
// whether the e-mail goes out or not.
func TestCodesAndAddressesStayOutOfSight(t *testing.T) {
	t.Parallel()
	const code = "ZQ74417KX"
	h := newHouse(t)
	h.host.set(func(host *host) {
		for id, change := range map[string]func(*notify.PasswordReset){
			"acme/sent":    func(*notify.PasswordReset) {},
			"acme/refused": func(*notify.PasswordReset) {},
			"acme/broken":  func(r *notify.PasswordReset) { r.Code += "\n" },
			"acme/skipped": func(r *notify.PasswordReset) { r.User.Email += " >" },
		} {
			reset := host.resets["acme/a1"]
			reset.Code = code
			change(&reset)
			host.resets[id] = reset
		}
	})
	h.run()
	states := map[string]delivery.State{
		"sent": delivery.StateCompleted, "refused": delivery.StateFailed,
		"broken": delivery.StateFailed, "skipped": delivery.StateCompleted,
	}
	for _, id := range []string{"sent", "broken", "skipped", "refused"} {
		if id == "refused" {
			require.NoError(t, h.server.SetRules(smtptest.Rule{
				At: smtptest.Dot, Reply: smtptest.Reply{Code: 554, Text: "spam to " + address},
			}))
		}
		job := h.awaitEnd(h.publish(notify.PasswordResetRequested{TenantCode: "acme", AttemptID: id}))
		assert.Equal(t, states[id], job.State, id)
	}
	_, parsed := h.onlyMessage()
	assert.Contains(t, parsed.Text, code)
	assert.Contains(t, parsed.HTML, code)
	assert.NotContains(t, parsed.Subject, code)

	for _, secret := range []string{code, address, "members.example"} {
		assert.NotContains(t, h.logs.String(), secret)
		for _, table := range []string{"outbox_jobs", "outbox_job_history", "email_deliveries"} {
			assert.Zero(t, h.count(`SELECT count(*) FROM buzon.`+table+` r WHERE strpos(r::text, $1) > 0`, secret), "%s in %s", secret, table)
		}
	}
	assert.Contains(t, h.logs.String(), "Code begins or ends with white space")
}
