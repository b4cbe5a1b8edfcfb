package delivery_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/retry"
)

func saveProgress(ctx context.Context, queue *delivery.Queue, job *delivery.Job, progress any) error {
	return queue.BeginFunc(ctx, func(tx pgx.Tx) error { return queue.SaveProgress(ctx, tx, job, progress) })
}

// Whatever ends an attempt, the next one has the progress that it saved.
func TestProgressSurvives(t *testing.T) {
	t.Parallel()
	retryNow := func(t *testing.T, _ *pgxpool.Pool, queue *delivery.Queue, id int64) {
		job := awaitJob(t, queue, id, func(j *delivery.Job) bool { return j.State.Final() })
		assert.JSONEq(t, `{"next": 7}`, string(job.Progress), "the history keeps it")
		require.NoError(t, queue.RetryNow(t.Context(), id))
	}
	for name, c := range map[string]struct {
		end  func(context.Context, *delivery.Job) error // of the first attempt
		then func(*testing.T, *pgxpool.Pool, *delivery.Queue, int64)
	}{
		"a retry":           {end: func(context.Context, *delivery.Job) error { return errBroken }},
		"a panic":           {end: func(context.Context, *delivery.Job) error { panic("broken") }},
		"a postponement":    {end: func(context.Context, *delivery.Job) error { return retry.After(0, errBroken) }},
		"a revived failure": {end: func(context.Context, *delivery.Job) error { return retry.Permanent(errBroken) }, then: retryNow},
		"a revived success": {end: func(context.Context, *delivery.Job) error { return nil }, then: retryNow},
		"a revived cancellation": {
			end: func(ctx context.Context, _ *delivery.Job) error { <-ctx.Done(); return ctx.Err() },
			then: func(t *testing.T, pool *pgxpool.Pool, queue *delivery.Queue, id int64) {
				_, err := queue.Cancel(t.Context(), id, "ana", "")
				require.NoError(t, err)
				retryNow(t, pool, queue, id)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			queue := newQueue(t, pool)
			found, saved := make(chan json.RawMessage, 2), make(chan bool, 1)
			run(t, newRunner(t, queue, types(handle("a", func(ctx context.Context, job *delivery.Job) error {
				found <- job.Progress
				if job.Progress != nil {
					return nil
				}
				if err := saveProgress(ctx, queue, job, map[string]int{"next": 7}); err != nil {
					return err
				}
				saved <- true
				return c.end(ctx, job)
			}))))
			id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
			assert.Nil(t, await(t, found))
			await(t, saved)
			if c.then != nil {
				c.then(t, pool, queue, id)
			}
			assert.JSONEq(t, `{"next": 7}`, string(await(t, found)))
			job := awaitState(t, queue, id, delivery.StateCompleted)
			assert.JSONEq(t, `{"next": 7}`, string(job.Progress))
		})
	}
}

// A pending job that is cancelled, and a dead worker's, keep it in the history.
func TestProgressOfCancelledJobs(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	pending := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	abandoned := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	exec(t, pool, `UPDATE buzon.outbox_jobs SET progress = '7'`)
	exec(t, pool, `UPDATE buzon.outbox_jobs SET state = 'running', lease_until = now() - interval '1 second', cancel_requested_at = now() WHERE id = $1`, abandoned)
	_, err := queue.Cancel(t.Context(), pending, "ana", "")
	require.NoError(t, err)
	run(t, newRunner(t, queue, types(handle("b", func(context.Context, *delivery.Job) error { return nil }))))
	for _, id := range []int64{pending, abandoned} {
		job := awaitState(t, queue, id, delivery.StateCancelled)
		assert.JSONEq(t, "7", string(job.Progress))
	}
	jobs, err := queue.ListJobs(t.Context(), delivery.JobFilter{})
	require.NoError(t, err)
	for _, job := range jobs {
		assert.JSONEq(t, "7", string(job.Progress))
	}
}

// The process dies in the middle; another takes the job over and goes on.
func TestProgressSurvivesTheDeathOfItsProcess(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	saved, goOn, late := make(chan error, 1), make(chan struct{}), make(chan error, 1)
	dying := types(delivery.JobType{Name: "a", Concurrency: 1, Handler: delivery.HandlerFunc(func(ctx context.Context, job *delivery.Job) error {
		saved <- saveProgress(ctx, queue, job, 7)
		<-goOn
		late <- saveProgress(context.WithoutCancel(ctx), queue, job, 8)
		return nil
	})})
	dying.Lease = never // it renews no more
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	run(t, newRunner(t, queue, dying))
	require.NoError(t, await(t, saved))
	exec(t, pool, "UPDATE buzon.outbox_jobs SET lease_until = now() - interval '1 second'")

	found := make(chan json.RawMessage, 1)
	run(t, newRunner(t, queue, types(handle("a", func(_ context.Context, job *delivery.Job) error {
		found <- job.Progress
		<-goOn
		return nil
	}))))
	assert.JSONEq(t, "7", string(await(t, found)))
	close(goOn)
	require.ErrorIs(t, await(t, late), delivery.ErrLeaseLost)
	assert.JSONEq(t, "7", string(awaitState(t, queue, id, delivery.StateCompleted).Progress))
}

// The example's handler, interrupted after each batch by an error of its
// reader, makes one job for each member.
func TestExampleOfAFanOut(t *testing.T) {
	t.Parallel()
	const total = 3500
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	var reads atomic.Int64
	members := func(_ context.Context, tenant string, after int64, limit int) ([]int64, error) {
		assert.Equal(t, "acme", tenant)
		if reads.Add(1)%2 == 0 {
			return nil, errBroken
		}
		var ids []int64
		for id := after + 1; id <= min(after+int64(limit), total); id++ {
			ids = append(ids, id)
		}
		return ids, nil
	}
	run(t, newRunner(t, queue, types(delivery.JobType{Name: "announce", Handler: announcer{queue: queue, members: members}})))
	id := insert(t, pool, queue, delivery.JobParams{Type: "announce", Tenant: "acme"})
	job := awaitState(t, queue, id, delivery.StateCompleted)
	assert.Equal(t, 4, job.RetryCount)
	assert.JSONEq(t, `{"LastMember": 3500}`, string(job.Progress))
	assert.Equal(t, total, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs"))
	assert.Equal(t, total, count(t, pool, "SELECT count(DISTINCT payload) FROM buzon.outbox_jobs"))
}

// attempt runs f as a handler of a job, once.
func attempt(t *testing.T, pool *pgxpool.Pool, queue *delivery.Queue, f delivery.HandlerFunc) *delivery.Job {
	t.Helper()
	stop := run(t, newRunner(t, queue, types(handle("once", f))))
	job := awaitJob(t, queue, insert(t, pool, queue, delivery.JobParams{Type: "once"}), func(j *delivery.Job) bool { return j.State.Final() })
	require.NoError(t, stop())
	return job
}

// What cannot be stored is refused before the database is touched.
func TestSaveProgressRefusesBadProgress(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	job := attempt(t, pool, queue, func(ctx context.Context, job *delivery.Job) error {
		assert.NoError(t, saveProgress(ctx, queue, job, "good"))
		for want, progress := range map[string]any{
			"progress holds a NUL":          "a\x00b",
			"progress holds half of a":      json.RawMessage(`"\ud83d"`),
			"progress: json: unsupported":   make(chan int),
			"progress has 1048578 bytes":    strings.Repeat("x", 1<<20),
			"save the progress of job 1: p": json.RawMessage("{"),
		} {
			assert.NoError(t, queue.BeginFunc(ctx, func(tx pgx.Tx) error {
				assert.ErrorContains(t, queue.SaveProgress(ctx, tx, job, progress), want)
				return queue.SaveProgress(ctx, tx, job, json.RawMessage(hostileJSON))
			}), "the transaction stays usable")
		}
		return nil
	})
	assert.Equal(t, delivery.StateCompleted, job.State)
	assert.JSONEq(t, hostileJSON, string(job.Progress))
	require.ErrorIs(t, queue.SaveProgress(t.Context(), nil, job, 1), delivery.ErrTxUnusable)
}

// What was rolled back is not kept, and null is nothing.
func TestSaveProgressThroughTheCallersTransaction(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	kept := func(id int64) string {
		job, err := queue.GetJob(context.WithoutCancel(t.Context()), id)
		assert.NoError(t, err)
		return string(job.Progress)
	}
	job := attempt(t, pool, queue, func(ctx context.Context, job *delivery.Job) error {
		assert.NoError(t, saveProgress(ctx, queue, job, 1))
		assert.ErrorIs(t, queue.BeginFunc(ctx, func(tx pgx.Tx) error {
			assert.NoError(t, queue.SaveProgress(ctx, tx, job, 2))
			assert.Equal(t, "1", kept(job.ID), "not before the commit")
			return errBroken
		}), errBroken)
		assert.Equal(t, "1", kept(job.ID))
		for _, nothing := range []any{nil, json.RawMessage(nil), (*int)(nil)} {
			assert.NoError(t, saveProgress(ctx, queue, job, 3))
			assert.Equal(t, "3", kept(job.ID))
			assert.NoError(t, saveProgress(ctx, queue, job, nothing))
			assert.Nil(t, job.Progress)
			assert.Empty(t, kept(job.ID))
		}
		return nil
	})
	assert.Equal(t, delivery.StateCompleted, job.State)
	assert.Nil(t, job.Progress)
}

// A cancellation that was asked for stops the handler through its context, and
// not the record of what it has done.
func TestSaveProgressAfterACancelRequest(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	job := attempt(t, pool, queue, func(ctx context.Context, job *delivery.Job) error {
		_, err := queue.Cancel(ctx, job.ID, "ana", "")
		assert.NoError(t, err)
		<-ctx.Done()
		assert.NoError(t, saveProgress(context.WithoutCancel(ctx), queue, job, 5))
		assert.ErrorIs(t, saveProgress(ctx, queue, job, 6), context.Canceled)
		return ctx.Err()
	})
	assert.Equal(t, delivery.StateCancelled, job.State)
	assert.JSONEq(t, "5", string(job.Progress))
}

// What a handler does to its copy of the progress is not seen elsewhere.
func TestHandlerMayChangeItsProgress(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	failed := make(chan delivery.Job, 1)
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	exec(t, pool, "UPDATE buzon.outbox_jobs SET progress = '7'")
	run(t, newRunner(t, queue, types(delivery.JobType{
		Name: "a",
		Handler: delivery.HandlerFunc(func(_ context.Context, job *delivery.Job) error {
			job.Progress[0] = 'X'
			return retry.Permanent(errBroken)
		}),
		OnFailed: func(_ context.Context, job delivery.Job) { failed <- job },
	})))
	assert.JSONEq(t, "7", string(await(t, failed).Progress))
	assert.JSONEq(t, "7", string(awaitState(t, queue, id, delivery.StateFailed).Progress))
}

func TestProgressWithoutMigration(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	require.NoError(t, queue.Ready(t.Context()))
	exec(t, pool, "ALTER TABLE buzon.outbox_jobs DROP COLUMN progress")
	require.ErrorIs(t, queue.Ready(t.Context()), delivery.ErrNotMigrated)
	require.ErrorIs(t, saveProgress(t.Context(), queue, &delivery.Job{ID: 1}, 1), delivery.ErrNotMigrated)
}
