package delivery_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
)

func TestCancelPendingJob(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	state, err := queue.Cancel(t.Context(), id, "ana", "wrong lote")
	require.NoError(t, err)
	assert.Equal(t, delivery.StateCancelled, state)
	job, err := queue.GetJob(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, delivery.StateCancelled, job.State)
	assert.Equal(t, "ana", job.CancelledBy)
	assert.Equal(t, "wrong lote", job.CancelReason)

	_, err = queue.Cancel(t.Context(), id, "ana", "again")
	require.ErrorIs(t, err, delivery.ErrFinished)
	_, err = queue.Cancel(t.Context(), id+1, "ana", "")
	require.ErrorIs(t, err, delivery.ErrNotFound)
	_, err = queue.Cancel(t.Context(), id, "", "")
	require.ErrorContains(t, err, "by is empty")
}

// The handler of a running job sees who cancelled; the unique key is free when
// it has acknowledged, and not before. It sees it at once where the process is
// the same or the runner listens, and at its next renewal otherwise.
func TestCancelRunningJob(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sameProcess, listen, renew bool }{
		"in the same process": {sameProcess: true},
		"by notification":     {listen: true},
		"by renewal":          {renew: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			queue := newQueue(t, pool)
			canceller := queue
			if !c.sameProcess {
				canceller = newQueue(t, pool)
			}
			started, causes, goOn := make(chan int64, 1), make(chan error, 1), make(chan struct{})
			config := types(handle("a", func(ctx context.Context, job *delivery.Job) error {
				started <- job.ID
				<-ctx.Done()
				causes <- context.Cause(ctx)
				<-goOn
				return ctx.Err()
			}))
			config.NoListen = !c.listen
			if !c.renew {
				config.Lease = never // so that no renewal comes by itself
			}
			params := delivery.JobParams{Type: "a", UniqueKey: "k"}
			id := insert(t, pool, queue, params)
			run(t, newRunner(t, queue, config))
			await(t, started)
			state, err := canceller.Cancel(t.Context(), id, "ana", "wrong lote")
			require.NoError(t, err)
			assert.Equal(t, delivery.StateRunning, state)
			_, err = canceller.Cancel(t.Context(), id, "luis", "me too")
			require.NoError(t, err)

			var cancelled *delivery.CancelError
			require.ErrorAs(t, await(t, causes), &cancelled)
			assert.Equal(t, &delivery.CancelError{By: "ana", Reason: "wrong lote"}, cancelled)
			assert.Equal(t, id, insert(t, pool, queue, params), "the key is not free yet")
			close(goOn)
			job := awaitState(t, queue, id, delivery.StateCancelled)
			assert.Equal(t, "ana", job.CancelledBy)
			assert.NotEqual(t, id, insert(t, pool, queue, params))
		})
	}
}

// Who asked first is who is kept, also when the job was put back meanwhile.
func TestWhoCancelledFirst(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	exec(t, pool, "UPDATE buzon.outbox_jobs SET cancel_requested_at = now(), cancelled_by = 'ana', cancel_reason = 'first'")
	_, err := queue.Cancel(t.Context(), id, "luis", "second")
	require.NoError(t, err)
	job, err := queue.GetJob(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, "ana", job.CancelledBy)
	assert.Equal(t, "first", job.CancelReason)
}

// What a handler could finish all the same is completed.
func TestCancelledHandlerMayComplete(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started := make(chan int64, 1)
	config := types(handle("a", func(ctx context.Context, job *delivery.Job) error {
		started <- job.ID
		<-ctx.Done()
		return nil
	}))
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	run(t, newRunner(t, queue, config))
	await(t, started)
	_, err := queue.Cancel(t.Context(), id, "ana", "")
	require.NoError(t, err)
	awaitState(t, queue, id, delivery.StateCompleted)
}

// A request that comes while the attempt is failing ends the job all the same,
// instead of its next retry.
func TestCancelWinsOverARetry(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	started, goOn := make(chan int64, 2), make(chan struct{})
	config := types(handle("a", func(_ context.Context, job *delivery.Job) error {
		started <- job.ID
		<-goOn
		return errBroken
	}))
	config.NoListen, config.Lease = true, never
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	run(t, newRunner(t, queue, config))
	await(t, started)
	_, err := queue.Cancel(t.Context(), id, "ana", "")
	require.NoError(t, err)
	close(goOn)
	job := awaitState(t, queue, id, delivery.StateCancelled)
	assert.Equal(t, "broken", job.LastError)
	assert.Empty(t, started, "it did not run again")
}

// A cancelled job whose worker died is ended by any runner, also by one that
// does not know its type.
func TestCancelledJobOfADeadWorker(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	id := insert(t, pool, queue, delivery.JobParams{Type: "a", UniqueKey: "k"})
	exec(t, pool, `UPDATE buzon.outbox_jobs SET state = 'running', lease_until = now() + interval '1 hour' WHERE id = $1`, id)
	state, err := queue.Cancel(t.Context(), id, "ana", "it hangs")
	require.NoError(t, err)
	assert.Equal(t, delivery.StateRunning, state)
	exec(t, pool, `UPDATE buzon.outbox_jobs SET lease_until = now() - interval '1 second' WHERE id = $1`, id)

	run(t, newRunner(t, queue, types(handle("b", func(context.Context, *delivery.Job) error { return nil }))))
	job := awaitState(t, queue, id, delivery.StateCancelled)
	assert.Equal(t, "it hangs", job.CancelReason)
}
