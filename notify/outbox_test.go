package notify_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/notify"
)

func newOutbox(t *testing.T, queue *delivery.Queue) *notify.Outbox {
	t.Helper()
	outbox, err := notify.NewOutbox(queue)
	require.NoError(t, err)
	return outbox
}

func TestNewOutboxWantsAQueue(t *testing.T) {
	t.Parallel()
	_, err := notify.NewOutbox(nil)
	assert.EqualError(t, err, "notify: outbox: the queue is nil")
}

// What a published event is kept as. The form of the payload is a contract with
// the processes of other versions.
func TestPublishedJob(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	begin := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	end := begin.Add(time.Hour)
	for _, c := range []struct {
		event   notify.Event
		jobType string
		payload string
	}{
		{registered, "user_registered", `{"tenant_code": "acme", "user_id": "7"}`},
		{requested, "password_reset_requested", `{"tenant_code": "acme", "attempt_id": "a1"}`},
	} {
		var inserted delivery.Inserted
		err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) (err error) {
			inserted, err = h.outbox.PublishJob(t.Context(), tx, c.event,
				notify.PublishOptions{NotBefore: begin, NotAfter: end, CreatedBy: "clerk-9"})
			return err
		})
		require.NoError(t, err)
		job, err := h.queue.GetJob(t.Context(), inserted.ID)
		require.NoError(t, err)
		assert.Equal(t, c.jobType, job.Type)
		assert.Equal(t, "acme", job.Tenant)
		assert.JSONEq(t, c.payload, string(job.Payload))
		assert.Equal(t, 1, job.PayloadVersion)
		assert.Equal(t, delivery.PriorityHigh, job.Priority, "somebody is waiting in front of a screen")
		assert.Empty(t, job.UniqueKey, "a unique key would make two transactions wait for each other")
		assert.True(t, begin.Equal(job.NextRetryAt))
		assert.True(t, end.Equal(job.NotAfter))
		assert.Equal(t, "clerk-9", job.CreatedBy)
	}
}

// An event that is not valid is refused before the database hears of it: the
// host may pass over the error and commit.
func TestPublishRefusesEventsThatAreNotValid(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, err := h.pool.Exec(t.Context(), "CREATE TABLE members (id text)")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		event notify.Event
		want  []string
	}{
		"empty ids": {
			notify.UserRegistered{},
			[]string{"publish user_registered", `TenantCode "" is empty`, `UserID "" is empty`},
		},
		"a colon": {
			notify.UserRegistered{TenantCode: "acme", UserID: "4:2"},
			[]string{"publish user_registered", `UserID "4:2" holds ':'`},
		},
		"white space": {
			notify.PasswordResetRequested{TenantCode: "ac me", AttemptID: "a1"},
			[]string{"publish password_reset_requested", `TenantCode "ac me" holds ' '`},
		},
		"a control character": {
			notify.PasswordResetRequested{TenantCode: "acme", AttemptID: "a\n1"},
			[]string{`AttemptID "a\n1" holds '\n'`},
		},
		"too long": {
			notify.UserRegistered{TenantCode: "acme", UserID: strings.Repeat("x", 10_000)},
			[]string{"UserID", "10000 bytes"},
		},
		"nil": {nil, []string{"notify: publish: the event is nil"}},
	} {
		err := pgx.BeginFunc(t.Context(), h.pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "INSERT INTO members VALUES ($1)", name)
			require.NoError(t, err)
			err = h.outbox.Publish(t.Context(), tx, c.event)
			for _, part := range c.want {
				assert.ErrorContains(t, err, part, name)
			}
			if err != nil {
				assert.Less(t, len(err.Error()), 500, name)
			}
			return nil
		})
		require.NoError(t, err, name)
		assert.Equal(t, 1, h.count("SELECT count(*) FROM members WHERE id = $1", name), "%s: the host's row is committed", name)
	}
	assert.Zero(t, h.jobs())
}

func TestPublishSaysWhyTheTransactionIsOfNoUse(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx := t.Context()
	begin := func(options pgx.TxOptions) pgx.Tx {
		tx, err := h.pool.BeginTx(ctx, options)
		require.NoError(t, err)
		t.Cleanup(func() {
			if err := tx.Rollback(context.WithoutCancel(ctx)); !errors.Is(err, pgx.ErrTxClosed) {
				assert.NoError(t, err)
			}
		})
		return tx
	}
	for name, c := range map[string]struct {
		tx   func() pgx.Tx
		want string
	}{
		"aborted": {func() pgx.Tx {
			tx := begin(pgx.TxOptions{})
			_, err := tx.Exec(ctx, "SELECT 1/0")
			require.Error(t, err)
			return tx
		}, "an earlier statement in it failed"},
		"read-only": {func() pgx.Tx { return begin(pgx.TxOptions{AccessMode: pgx.ReadOnly}) }, "read-only"},
		"rolled back": {func() pgx.Tx {
			tx := begin(pgx.TxOptions{})
			require.NoError(t, tx.Rollback(ctx))
			return tx
		}, "already committed or rolled back"},
		"nil": {func() pgx.Tx { return nil }, "it is nil"},
	} {
		err := h.outbox.Publish(ctx, c.tx(), registered)
		require.ErrorIs(t, err, delivery.ErrTxUnusable, name)
		assert.ErrorContains(t, err, `notify: publish user_registered of tenant "acme"`, name)
		assert.ErrorContains(t, err, c.want, name)
	}
	assert.Zero(t, h.jobs())
}

func TestPublishWithoutMigrations(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{})
	require.NoError(t, err)
	outbox := newOutbox(t, queue)
	err = pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		return outbox.Publish(t.Context(), tx, registered)
	})
	require.ErrorIs(t, err, delivery.ErrNotMigrated)
	assert.ErrorContains(t, err, `publish user_registered of tenant "acme"`)
	assert.ErrorContains(t, err, `schema "buzon"`)
}
