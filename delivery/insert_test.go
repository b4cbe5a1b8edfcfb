package delivery_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
)

func TestInsertKeepsEveryField(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	notBefore := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	params := delivery.JobParams{
		Type: "invoice", Tenant: "acme", Payload: map[string]any{"id": 42, "name": `Muñoz "\u0000" \ 😀`}, PayloadVersion: 3,
		UniqueKey: "invoice:42", Priority: delivery.PriorityHigh, MaxRetries: 7,
		NotBefore: notBefore, NotAfter: notBefore.Add(time.Hour), CreatedBy: "ana",
	}
	job, err := queue.GetJob(t.Context(), insert(t, pool, queue, params))
	require.NoError(t, err)
	assert.Equal(t, "invoice", job.Type)
	assert.Equal(t, "acme", job.Tenant)
	var payload map[string]any
	require.NoError(t, job.Decode(3, &payload))
	assert.Equal(t, map[string]any{"id": 42.0, "name": `Muñoz "\u0000" \ 😀`}, payload)
	assert.Equal(t, 3, job.PayloadVersion)
	assert.Equal(t, "invoice:42", job.UniqueKey)
	assert.Equal(t, delivery.PriorityHigh, job.Priority)
	assert.Equal(t, 7, job.MaxRetries)
	assert.True(t, job.NextRetryAt.Equal(notBefore))
	assert.True(t, job.NotAfter.Equal(notBefore.Add(time.Hour)))
	assert.Equal(t, "ana", job.CreatedBy)
	assert.Equal(t, delivery.StatePending, job.State)
	assert.Zero(t, job.RetryCount)
	assert.Zero(t, job.LeaseNumber)
	assert.WithinDuration(t, time.Now(), job.CreatedAt, time.Minute)
}

func TestInsertDefaults(t *testing.T) {
	t.Setenv("MAIL_RETRY_MAX", "9")
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	job, err := queue.GetJob(t.Context(), insert(t, pool, queue, delivery.JobParams{Type: "a"}))
	require.NoError(t, err)
	assert.Equal(t, 9, job.MaxRetries)
	assert.Equal(t, 1, job.PayloadVersion)
	assert.JSONEq(t, "{}", string(job.Payload))
	assert.Equal(t, job.CreatedAt, job.NextRetryAt, "due at once")
	assert.True(t, job.NotAfter.IsZero())

	job, err = queue.GetJob(t.Context(), insert(t, pool, queue, delivery.JobParams{Type: "a", MaxRetries: -1}))
	require.NoError(t, err)
	assert.Zero(t, job.MaxRetries, "negative means no retry")
}

func TestMalformedEnvironmentEndsNewQueue(t *testing.T) {
	t.Setenv("MAIL_RETRY_MAX", "several")
	_, err := delivery.NewQueue(nil, delivery.QueueConfig{Schema: strings.Repeat("s", 64)})
	require.ErrorContains(t, err, `MAIL_RETRY_MAX="several"`)
	require.ErrorContains(t, err, "the pool is nil")
	require.ErrorContains(t, err, "Schema has 64 bytes", "every fault is in one error")
}

func TestRolledBackInsertLeavesNothing(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	err := delivery.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := queue.Insert(t.Context(), tx, delivery.JobParams{Type: "a"})
		require.NoError(t, err)
		return errBroken
	})
	require.ErrorIs(t, err, errBroken)
	assert.Zero(t, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs"))
}

// Faults in the parameters are found before the database is touched: the
// host's transaction goes on.
func TestInsertRefusesBadParams(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	now := time.Now()
	for _, c := range []struct {
		params delivery.JobParams
		want   string
	}{
		{delivery.JobParams{}, "Type is empty"},
		{delivery.JobParams{Type: strings.Repeat("x", 256)}, "Type has 256 bytes"},
		{delivery.JobParams{Type: "a", Tenant: "ac\x00me"}, "Tenant holds a NUL"},
		{delivery.JobParams{Type: "a", Tenant: "\xff"}, "Tenant is not valid UTF-8"},
		{delivery.JobParams{Type: "a", UniqueKey: strings.Repeat("k", 1025)}, "UniqueKey has 1025 bytes"},
		{delivery.JobParams{Type: "a", Priority: 2}, "Priority is 2; want -1 to 1"},
		{delivery.JobParams{Type: "a", PayloadVersion: -1}, "PayloadVersion is -1"},
		{delivery.JobParams{Type: "a", Payload: make(chan int)}, "Payload: json: unsupported type"},
		{delivery.JobParams{Type: "a", Payload: "a\x00b"}, "Payload holds a NUL"},
		{delivery.JobParams{Type: "a", Payload: json.RawMessage("{")}, "Payload: json"},
		{delivery.JobParams{Type: "a", Payload: strings.Repeat("x", 1<<20)}, "store identifiers"},
		{delivery.JobParams{Type: "a", NotBefore: now, NotAfter: now.Add(-time.Second)}, "NotAfter is before NotBefore"},
		{delivery.JobParams{Type: "", Tenant: "\xff"}, "Type is empty\nTenant is not valid"},
	} {
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := queue.Insert(t.Context(), tx, c.params)
			require.ErrorContains(t, err, c.want)
			_, err = tx.Exec(t.Context(), "SELECT 1")
			return err
		})
		require.NoError(t, err, "the transaction stays usable")
	}
	assert.Zero(t, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs"))
}

func TestInsertIntoUnusableTransactions(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	params := delivery.JobParams{Type: "invoice"}

	_, err := queue.Insert(t.Context(), nil, params)
	require.ErrorIs(t, err, delivery.ErrTxUnusable)
	require.ErrorContains(t, err, `insert job of type "invoice"`)
	require.ErrorContains(t, err, "nil")

	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT 1/0")
	require.Error(t, err)
	_, err = queue.Insert(t.Context(), tx, params)
	require.ErrorIs(t, err, delivery.ErrTxUnusable)
	require.ErrorContains(t, err, "an earlier statement in it failed")
	require.NoError(t, tx.Rollback(t.Context()))
	_, err = queue.Insert(t.Context(), tx, params)
	require.ErrorIs(t, err, delivery.ErrTxUnusable)
	require.ErrorContains(t, err, "already committed or rolled back")

	err = pgx.BeginTxFunc(t.Context(), pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		_, err := queue.Insert(t.Context(), tx, params)
		return err
	})
	require.ErrorIs(t, err, delivery.ErrTxUnusable)
	require.ErrorContains(t, err, "read-only")
	assert.Zero(t, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs"))
}

func TestInsertWithoutMigration(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	queue := newQueue(t, pool)
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := queue.Insert(t.Context(), tx, delivery.JobParams{Type: "a"})
		return err
	})
	require.ErrorIs(t, err, delivery.ErrNotMigrated)
	require.ErrorContains(t, err, `schema "buzon"`)
	require.ErrorContains(t, err, "migrations.Up")
	require.ErrorIs(t, queue.Ready(t.Context()), delivery.ErrNotMigrated)
}

func TestInsertWithoutRights(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SET LOCAL ROLE pg_monitor")
		require.NoError(t, err)
		_, err = queue.Insert(t.Context(), tx, delivery.JobParams{Type: "a"})
		return err
	})
	require.ErrorContains(t, err, `lacks rights on schema "buzon"`)
}

func TestUniqueKey(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	params := delivery.JobParams{Type: "lote", Tenant: "norte", UniqueKey: "7"}
	first := insert(t, pool, queue, params)

	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		again, err := queue.Insert(t.Context(), tx, params)
		assert.Equal(t, delivery.Inserted{ID: first, Duplicate: true}, again)
		return err
	})
	require.NoError(t, err, "a duplicate is no error, and leaves the transaction usable")

	for _, other := range []delivery.JobParams{
		{Type: "lote", Tenant: "sur", UniqueKey: "7"},
		{Type: "report", Tenant: "norte", UniqueKey: "7"},
		{Type: "lote", Tenant: "norte"},
	} {
		assert.NotEqual(t, first, insert(t, pool, queue, other), "the key is one tenant's and type's")
	}

	_, err = queue.Cancel(t.Context(), first, "ana", "wrong lote")
	require.NoError(t, err)
	assert.NotEqual(t, first, insert(t, pool, queue, params), "the key of an ended job is free")
}

func TestUniqueKeyUnderContention(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	const writers = 32
	results := make([]delivery.Inserted, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
				results[i], err = queue.Insert(t.Context(), tx, delivery.JobParams{Type: "a", UniqueKey: "k"})
				return err
			})
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	created := 0
	for _, r := range results {
		assert.Equal(t, results[0].ID, r.ID)
		if !r.Duplicate {
			created++
		}
	}
	assert.Equal(t, 1, created)
}

// A host behind a pooler, or one that caches no statements, chooses another
// execution mode.
func TestEveryQueryExecMode(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
			queue := newQueue(t, pool)
			var seen []string
			var mu sync.Mutex
			stop := run(t, newRunner(t, queue, types(handle("a", func(ctx context.Context, job *delivery.Job) error {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, string(job.Payload))
				if len(seen) == 2 {
					assert.JSONEq(t, hostileJSON, string(job.Progress))
					return nil
				}
				err := queue.BeginFunc(ctx, func(tx pgx.Tx) error {
					return queue.SaveProgress(ctx, tx, job, json.RawMessage(hostileJSON))
				})
				assert.NoError(t, err)
				return errBroken
			}))))
			id := insert(t, pool, queue, delivery.JobParams{Type: "a", Payload: map[string]string{"x": `it's "ñ" \`}, UniqueKey: "k"})
			job := awaitState(t, queue, id, delivery.StateCompleted)
			assert.Equal(t, 1, job.RetryCount)
			assert.Equal(t, "broken", job.LastError)
			require.NoError(t, stop())
			assert.Equal(t, []string{seen[0], seen[0]}, seen)
			assert.JSONEq(t, `{"x": "it's \"ñ\" \\"}`, seen[0])
			jobs, err := queue.ListJobs(t.Context(), delivery.JobFilter{Type: "a"})
			require.NoError(t, err)
			require.Len(t, jobs, 1)
			require.NoError(t, queue.RetryNow(t.Context(), id))
			state, err := queue.Cancel(t.Context(), id, "ana", "")
			require.NoError(t, err)
			assert.Equal(t, delivery.StateCancelled, state)
			assertInsertManyKeepsEveryField(t, pool, queue)
		})
	}
}

const hostileJSON = `{"x": "it's \"ñ\" \\ {a,b} $1 NULL 😀"}`
