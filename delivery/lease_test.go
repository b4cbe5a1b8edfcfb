package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
)

// waitForEnd is a handler that reports why its context ended.
func waitForEnd(started chan<- int64, causes chan<- error) delivery.HandlerFunc {
	return func(ctx context.Context, job *delivery.Job) error {
		started <- job.ID
		<-ctx.Done()
		causes <- context.Cause(ctx)
		return ctx.Err()
	}
}

// A handler that takes longer than the lease keeps its job.
func TestLeaseIsRenewedWhileTheHandlerRuns(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, goOn := make(chan int64, 2), make(chan struct{})
	config := types(handle("slow", func(ctx context.Context, job *delivery.Job) error {
		started <- job.ID
		select {
		case <-goOn:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}))
	id := insert(t, pool, queue, delivery.JobParams{Type: "slow"})
	run(t, newRunner(t, queue, config))
	run(t, newRunner(t, queue, config)) // would take it over
	await(t, started)
	first, err := queue.GetJob(t.Context(), id)
	require.NoError(t, err)
	// Two lease times later by the database's clock, the lease is a later one.
	awaitJob(t, queue, id, func(j *delivery.Job) bool { return j.LeaseUntil.Sub(first.LeaseUntil) > 2*lease })
	close(goOn)
	job := awaitState(t, queue, id, delivery.StateCompleted)
	assert.EqualValues(t, 1, job.LeaseNumber, "nobody else has claimed it")
	assert.Empty(t, started)
}

// A lost lease ends the handler's context, and its result is dropped and
// counted.
func TestLostLeaseEndsTheHandler(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, causes := make(chan int64, 1), make(chan error, 1)
	config := types(handle("a", waitForEnd(started, causes)))
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	run(t, newRunner(t, queue, config))
	await(t, started)
	// Another runner takes the job, and has it for an hour.
	exec(t, pool, `UPDATE buzon.outbox_jobs SET lease_number = lease_number + 1, lease_until = now() + interval '1 hour',
		lease_owner = 'other' WHERE id = $1`, id)
	require.ErrorIs(t, await(t, causes), delivery.ErrLeaseLost)
	require.Eventually(t, func() bool {
		return testutil.CollectAndCount(queue.Collector(), "buzon_job_leases_lost_total") == 1
	}, patience, time.Millisecond)
	job, err := queue.GetJob(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, delivery.StateRunning, job.State)
	assert.Equal(t, "other", job.LeaseOwner)
	assert.Empty(t, job.LastError)
}

// A handler that ignores its time limit is left without a lease, so that
// another runner can take the job.
func TestHandlerThatIgnoresItsTimeLimitLosesItsLease(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, goOn := make(chan int64, 2), make(chan struct{})
	stuck := types(delivery.JobType{
		Name: "a", TimeLimit: time.Millisecond, Concurrency: 1, // or it would take the job over itself
		Handler: delivery.HandlerFunc(func(context.Context, *delivery.Job) error {
			started <- 0
			<-goOn
			return nil
		}),
	})
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	run(t, newRunner(t, queue, stuck))
	await(t, started)
	run(t, newRunner(t, queue, types(handle("a", func(context.Context, *delivery.Job) error { return nil }))))
	job := awaitState(t, queue, id, delivery.StateCompleted)
	assert.EqualValues(t, 2, job.LeaseNumber)
	assert.Zero(t, job.RetryCount, "a lost lease spends no retry")
	assert.Equal(t, 1, job.LostLeases)
	close(goOn)
}

// A job whose workers keep dying is given up after twenty lost leases in a row,
// and not before.
func TestJobThatKillsItsWorkersFails(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	ran := make(chan int64, 10)
	failed := make(chan delivery.Job, 10)
	config := types(delivery.JobType{
		Name: "a",
		Handler: delivery.HandlerFunc(func(_ context.Context, j *delivery.Job) error {
			ran <- j.ID
			return nil
		}),
		OnFailed: func(_ context.Context, j delivery.Job) { failed <- j },
	})
	abandoned := func(lost int) int64 {
		id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
		exec(t, pool, `UPDATE buzon.outbox_jobs SET state = 'running', lease_until = now() - interval '1 second', lease_number = 5,
			lost_leases = $2 WHERE id = $1`, id, lost)
		return id
	}
	nineteen, twenty := abandoned(18), abandoned(19)
	run(t, newRunner(t, queue, config))
	job := awaitState(t, queue, twenty, delivery.StateFailed)
	assert.Contains(t, job.LastError, "20 leases in a row")
	assert.Zero(t, job.RetryCount)
	assert.Equal(t, twenty, await(t, failed).ID)
	awaitState(t, queue, nineteen, delivery.StateCompleted)
	assert.Equal(t, nineteen, await(t, ran))
	assert.Empty(t, ran)
}

// A session that has locked one job's row holds up neither the renewal nor the
// result of another job.
func TestLockedRowHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, goOn := make(chan int64, 4), make(chan struct{})
	config := types(handle("a", func(_ context.Context, job *delivery.Job) error {
		started <- job.ID
		<-goOn
		return nil
	}))
	locked := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	free := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	run(t, newRunner(t, queue, config))
	run(t, newRunner(t, queue, config)) // would take over what is not renewed
	await(t, started)
	await(t, started)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SELECT FROM buzon.outbox_jobs WHERE id = $1 FOR UPDATE", locked)
	require.NoError(t, err)
	first, err := queue.GetJob(t.Context(), free)
	require.NoError(t, err)
	awaitJob(t, queue, free, func(j *delivery.Job) bool { return j.LeaseUntil.Sub(first.LeaseUntil) > 2*lease })
	close(goOn)
	assert.EqualValues(t, 1, awaitState(t, queue, free, delivery.StateCompleted).LeaseNumber)
	require.NoError(t, tx.Rollback(t.Context()))
	awaitState(t, queue, locked, delivery.StateCompleted)
}

// Handlers that have taken every connection of the pool keep their leases.
func TestLeasesAreRenewedWhileThePoolIsExhausted(t *testing.T) {
	t.Parallel()
	watched := pgtest.New(t)
	watcher := newQueue(t, watched)
	pool := pgtest.Connect(t, pgtest.URL(watched), func(c *pgxpool.Config) { c.MaxConns = 2 })
	queue := newQueue(t, pool)
	const jobs = 4
	started, goOn := make(chan int64, 2*jobs), make(chan struct{})
	config := types(handle("a", func(ctx context.Context, job *delivery.Job) error {
		started <- job.ID
		return pool.AcquireFunc(ctx, func(*pgxpool.Conn) error {
			<-goOn
			return nil
		})
	}))
	var ids []int64
	for range jobs {
		ids = append(ids, insert(t, watched, watcher, delivery.JobParams{Type: "a"}))
	}
	run(t, newRunner(t, queue, config))
	for range jobs {
		await(t, started)
	}
	first, err := watcher.GetJob(t.Context(), ids[0])
	require.NoError(t, err)
	awaitJob(t, watcher, ids[0], func(j *delivery.Job) bool { return j.LeaseUntil.Sub(first.LeaseUntil) > 2*lease })
	close(goOn)
	for _, id := range ids {
		assert.EqualValues(t, 1, awaitState(t, watcher, id, delivery.StateCompleted).LeaseNumber)
	}
}

// A NOTIFY that says that jobs may be due writes nothing to the jobs that run.
func TestNotifyRenewsNothing(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, goOn := make(chan int64, 10), make(chan struct{})
	config := types(handle("slow", func(_ context.Context, job *delivery.Job) error {
		started <- job.ID
		<-goOn
		return nil
	}), handle("quick", func(_ context.Context, job *delivery.Job) error {
		started <- job.ID
		return nil
	}))
	config.Lease, config.PollInterval = never, never
	slow := insert(t, pool, queue, delivery.JobParams{Type: "slow"})
	run(t, newRunner(t, queue, config))
	await(t, started)
	before, err := queue.GetJob(t.Context(), slow)
	require.NoError(t, err)
	other := newQueue(t, pool)
	for range 5 {
		quick := insert(t, pool, queue, delivery.JobParams{Type: "quick"})
		other.Wake("quick")
		awaitState(t, queue, quick, delivery.StateCompleted)
	}
	after, err := queue.GetJob(t.Context(), slow)
	require.NoError(t, err)
	assert.Equal(t, before.LeaseUntil, after.LeaseUntil)
	close(goOn)
}
