package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/retry"
)

// The first step: nothing more is claimed, what runs goes on undisturbed.
func TestStopDrains(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, goOn := make(chan int64, 2), make(chan struct{})
	config := types(delivery.JobType{
		Name: "a", Concurrency: 1,
		Handler: delivery.HandlerFunc(func(ctx context.Context, job *delivery.Job) error {
			started <- job.ID
			<-goOn
			return ctx.Err() // nil, since nobody has disturbed
		}),
	})
	running := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	waiting := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	runner := newRunner(t, queue, config)
	go func() { ended <- runner.Run(ctx) }()
	assert.Equal(t, running, await(t, started))
	cancel()
	require.Eventually(t, func() bool { return len(ended) == 0 }, patience, time.Millisecond, "Run waits")
	close(goOn)
	require.NoError(t, await(t, ended))
	awaitState(t, queue, running, delivery.StateCompleted)
	job, err := queue.GetJob(t.Context(), waiting)
	require.NoError(t, err)
	assert.Zero(t, job.LeaseNumber, "it was not claimed any more")
}

// The second step: what still runs is told to stop, and released without
// spending an attempt, for another runner to take at once.
func TestStopReleasesWhatItInterrupts(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, causes := make(chan int64, 1), make(chan error, 1)
	config := types(handle("a", waitForEnd(started, causes)))
	config.DrainTimeout = time.Millisecond
	config.Lease = never
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	stop := run(t, newRunner(t, queue, config))
	await(t, started)
	require.NoError(t, stop())
	require.ErrorIs(t, await(t, causes), delivery.ErrStopping)
	job, err := queue.GetJob(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, delivery.StatePending, job.State)
	assert.Zero(t, job.RetryCount)
	assert.Zero(t, job.LostLeases)
	assert.Empty(t, job.LastError)

	run(t, newRunner(t, queue, types(handle("a", func(context.Context, *delivery.Job) error { return nil }))))
	awaitState(t, queue, id, delivery.StateCompleted)
}

// An interrupted handler whose result is final has that result kept.
func TestStopKeepsFinalResults(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started := make(chan string, 2)
	interrupted := func(err error) delivery.HandlerFunc {
		return func(ctx context.Context, job *delivery.Job) error {
			started <- job.Type
			<-ctx.Done()
			return err
		}
	}
	config := types(handle("done", interrupted(nil)), handle("refused", interrupted(retry.Permanent(errBroken))))
	config.DrainTimeout = -1
	done := insert(t, pool, queue, delivery.JobParams{Type: "done"})
	refused := insert(t, pool, queue, delivery.JobParams{Type: "refused"})
	stop := run(t, newRunner(t, queue, config))
	await(t, started)
	await(t, started)
	require.NoError(t, stop())
	awaitState(t, queue, done, delivery.StateCompleted)
	awaitState(t, queue, refused, delivery.StateFailed)
}

// A handler that does not even then return is named, and not waited for.
func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, goOn := make(chan int64, 1), make(chan struct{})
	config := types(handle("a", func(_ context.Context, job *delivery.Job) error {
		started <- job.ID
		<-goOn
		return nil
	}))
	config.DrainTimeout, config.StopTimeout = -1, time.Millisecond
	insert(t, pool, queue, delivery.JobParams{Type: "a"})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	runner := newRunner(t, queue, config)
	go func() { ended <- runner.Run(ctx) }()
	await(t, started)
	cancel()
	require.ErrorContains(t, await(t, ended), "1 jobs did not end")
	close(goOn) // its goroutine ends, as the check for leaks sees
}

// A type that says so is stopped without waiting for the drain; the others are
// not.
func TestStopAtOnce(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, causes := make(chan int64, 1), make(chan error, 1)
	long := handle("long", waitForEnd(started, causes))
	long.StopAtOnce = true
	goOn := make(chan struct{})
	other := delivery.JobType{Name: "other", Handler: delivery.HandlerFunc(func(ctx context.Context, job *delivery.Job) error {
		started <- job.ID
		<-goOn
		return ctx.Err()
	})}
	config := types(long, other)
	config.DrainTimeout = time.Hour
	released := insert(t, pool, queue, delivery.JobParams{Type: "long"})
	stop := make(chan error, 1)
	running := newRunner(t, queue, config)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	go func() { stop <- running.Run(ctx) }()
	await(t, started)
	finished := insert(t, pool, queue, delivery.JobParams{Type: "other"})
	await(t, started)
	cancel()
	require.ErrorIs(t, await(t, causes), delivery.ErrStopping)
	awaitState(t, queue, released, delivery.StatePending)
	close(goOn)
	require.NoError(t, await(t, stop))
	awaitState(t, queue, finished, delivery.StateCompleted)
	job, err := queue.GetJob(t.Context(), released)
	require.NoError(t, err)
	assert.Zero(t, job.RetryCount, "it has spent nothing")
}
