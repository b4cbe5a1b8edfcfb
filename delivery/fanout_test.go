package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
)

// A moment is where a fan-out can be cut, in each of its batches.
type moment string

const (
	beforeBatch     moment = "before the batch"
	childrenWritten moment = "after the children"
	progressSaved   moment = "after the progress"
	committed       moment = "after the commit"
)

// fanOut writes children in batches, as a handler does. They have no unique
// key, so that a second child for the same thing shows.
type fanOut struct {
	queue *Queue
	total int
	batch int
	at    func(moment moment, next int, tx pgx.Tx) error
}

func (f *fanOut) handle(ctx context.Context, job *Job) error {
	next := 0
	if job.Progress != nil {
		if err := json.Unmarshal(job.Progress, &next); err != nil {
			return err
		}
	}
	for next < f.total {
		var children []JobParams
		for n := next; n < min(next+f.batch, f.total); n++ {
			children = append(children, JobParams{Type: "child", Tenant: job.Tenant, Payload: n})
		}
		if err := f.at(beforeBatch, next, nil); err != nil {
			return err
		}
		err := f.queue.BeginFunc(ctx, func(tx pgx.Tx) error {
			if _, err := f.queue.InsertMany(ctx, tx, children); err != nil {
				return err
			}
			if err := f.at(childrenWritten, next, tx); err != nil {
				return err
			}
			if err := f.queue.SaveProgress(ctx, tx, job, next+len(children)); err != nil {
				return err
			}
			return f.at(progressSaved, next, tx)
		})
		if err != nil {
			return err
		}
		if err := f.at(committed, next, nil); err != nil {
			return err
		}
		next += len(children)
	}
	return nil
}

// A cut is a way in which an attempt ends early. interrupt does it, and may let
// the handler go on; resume returns the job as its next attempt gets it.
type cut struct {
	interrupt func(t *testing.T, tx pgx.Tx) error
	resume    func(t *testing.T, pool *pgxpool.Pool, s *store, job *Job) *Job
}

func fail(*testing.T, pgx.Tx) error { return assert.AnError }

// vanish ends the connection under the transaction as the death of a process
// does: without a word.
func vanish(t *testing.T, tx pgx.Tx) error {
	if tx != nil {
		assert.NoError(t, tx.Conn().PgConn().Conn().Close())
	}
	return assert.AnError
}

func takenBack(o outcome) func(*testing.T, *pgxpool.Pool, *store, *Job) *Job {
	return func(t *testing.T, pool *pgxpool.Pool, s *store, job *Job) *Job {
		owned, err := s.putBack(t.Context(), pool, []*result{{job: job, outcome: o}})
		require.NoError(t, err)
		require.True(t, owned[job.ID])
		return claimOne(t, pool, s, "next").Job
	}
}

func failedAndRetriedByHand(t *testing.T, pool *pgxpool.Pool, s *store, job *Job) *Job {
	owned, err := s.finish(t.Context(), pool, []*result{{job: job, outcome: outcomeFailed}})
	require.NoError(t, err)
	require.True(t, owned[job.ID])
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return s.makeDue(t.Context(), tx, job.ID) }))
	return claimOne(t, pool, s, "next").Job
}

func takenOver(t *testing.T, pool *pgxpool.Pool, s *store, job *Job) *Job {
	// What the dead process had locked is free when the server has noticed.
	require.Eventually(t, func() bool {
		tag, err := pool.Exec(context.WithoutCancel(t.Context()), `UPDATE buzon.outbox_jobs SET lease_until = now() - interval '1 second'
			WHERE id = (SELECT id FROM buzon.outbox_jobs WHERE id = $1 FOR UPDATE SKIP LOCKED)`, job.ID)
		return err == nil && tag.RowsAffected() == 1
	}, 10*time.Second, time.Millisecond)
	return takeOverOne(t, pool, s, "next").Job
}

// A fan-out that is cut, anywhere and in whatever way, goes on where it was: in
// the end each child is there once.
func TestFanOutCutAnywhere(t *testing.T) {
	t.Parallel()
	const total, size = 10, 3
	for name, c := range map[string]cut{
		"retried":    {fail, takenBack(outcomeRetried)},
		"postponed":  {fail, takenBack(outcomePostponed)},
		"released":   {fail, takenBack(outcomeReleased)},
		"failed":     {fail, failedAndRetriedByHand},
		"died":       {vanish, takenOver},
		"taken over": {fail, takenOver},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			queue, err := NewQueue(pool, QueueConfig{NoNotify: true})
			require.NoError(t, err)
			for next := 0; next < total; next += size {
				for _, m := range []moment{beforeBatch, childrenWritten, progressSaved, committed} {
					insertJob(t, pool, queue.store)
					job := claimOne(t, pool, queue.store, "first").Job
					job.Tenant = fmt.Sprintf("%s %d", m, next)
					f := &fanOut{queue: queue, total: total, batch: size, at: func(now moment, at int, tx pgx.Tx) error {
						if now == m && at == next {
							return c.interrupt(t, tx)
						}
						return nil
					}}
					require.Error(t, f.handle(t.Context(), job), job.Tenant)

					again := c.resume(t, pool, queue.store, job)
					assert.Equal(t, job.ID, again.ID)
					again.Tenant = job.Tenant
					f.at = func(moment, int, pgx.Tx) error { return nil }
					require.NoError(t, f.handle(t.Context(), again), job.Tenant)
					assertEachChildOnce(t, pool, job.Tenant, total)
					finishOne(t, pool, queue.store, again)
				}
			}
		})
	}
}

// A worker that loses its lease in the middle and does not know writes nothing
// more, whether the new owner is before or behind it.
func TestFanOutOfTwoOwners(t *testing.T) {
	t.Parallel()
	const total, size = 10, 3
	pool := pgtest.New(t)
	queue, err := NewQueue(pool, QueueConfig{NoNotify: true})
	require.NoError(t, err)
	for next := 0; next < total; next += size {
		for _, m := range []moment{beforeBatch, childrenWritten, committed} { // after the progress nobody can take it over
			for _, first := range []string{"the new owner first", "the late owner first"} {
				insertJob(t, pool, queue.store)
				job := claimOne(t, pool, queue.store, "late").Job
				job.Tenant = fmt.Sprintf("%s %d, %s", m, next, first)
				owner := &fanOut{queue: queue, total: total, batch: size, at: func(moment, int, pgx.Tx) error { return nil }}
				var taken *Job
				late := &fanOut{queue: queue, total: total, batch: size, at: func(now moment, at int, _ pgx.Tx) error {
					if now != m || at != next {
						return nil
					}
					taken = takenOver(t, pool, queue.store, job)
					taken.Tenant = job.Tenant
					if first == "the new owner first" {
						return owner.handle(t.Context(), taken)
					}
					return nil
				}}
				err := late.handle(t.Context(), job)
				if m == committed && next+size >= total {
					require.NoError(t, err, "all was done")
				} else {
					require.ErrorIs(t, err, ErrLeaseLost, job.Tenant)
				}
				require.NoError(t, owner.handle(t.Context(), taken))
				assertEachChildOnce(t, pool, job.Tenant, total)
				finishOne(t, pool, queue.store, taken)
			}
		}
	}
}

// While the transaction of a batch is open, its job is neither renewed nor taken
// over, although its lease has ended, and not taken for lost.
func TestOpenBatchKeepsItsJob(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue, err := NewQueue(pool, QueueConfig{NoNotify: true})
	require.NoError(t, err)
	s := queue.store
	id := insertJob(t, pool, s)
	job := claimOne(t, pool, s, "w").Job
	endLease(t, pool, id)
	require.NoError(t, queue.BeginFunc(t.Context(), func(tx pgx.Tx) error {
		require.NoError(t, queue.SaveProgress(t.Context(), tx, job, 1))
		jobs, err := s.claim(t.Context(), pool, []string{"a"}, []int{1}, shortLease, "other", true)
		require.NoError(t, err)
		assert.Empty(t, jobs)
		states, err := s.renew(t.Context(), pool, []leaseKey{{id, job.LeaseNumber}}, time.Hour)
		require.NoError(t, err)
		assert.Len(t, states, 1, "it is known to be owned")
		return nil
	}))
	taken := takeOverOne(t, pool, s, "other")
	assert.Equal(t, id, taken.ID)
	assert.JSONEq(t, "1", string(taken.Progress))
}

// Progress is written by whoever runs the job, and by nobody else.
func TestSaveProgressIsFenced(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue, err := NewQueue(pool, QueueConfig{NoNotify: true})
	require.NoError(t, err)
	s := queue.store
	save := func(job *Job, progress any) error {
		return queue.BeginFunc(t.Context(), func(tx pgx.Tx) error {
			_, err := queue.InsertMany(t.Context(), tx, []JobParams{{Type: "child", Tenant: "x", Payload: progress}})
			require.NoError(t, err)
			return queue.SaveProgress(t.Context(), tx, job, progress)
		})
	}
	id := insertJob(t, pool, s)
	early := claimOne(t, pool, s, "early").Job
	require.NoError(t, save(early, 0))
	assert.JSONEq(t, "0", string(early.Progress))
	late := takenOver(t, pool, s, early)
	refused := func(job *Job) {
		t.Helper()
		before := job.Progress
		err := save(job, 99)
		require.ErrorIs(t, err, ErrLeaseLost)
		require.ErrorContains(t, err, fmt.Sprintf("save the progress of job %d", id))
		assert.Equal(t, before, job.Progress)
	}
	refused(early)
	require.NoError(t, save(late, 1))
	_, err = s.putBack(t.Context(), pool, []*result{{job: late, outcome: outcomePostponed}})
	require.NoError(t, err)
	refused(late) // it is pending, with late's number
	last := claimOne(t, pool, s, "last").Job
	assert.JSONEq(t, "1", string(last.Progress))
	finishOne(t, pool, s, last)
	refused(last)
	ended, err := s.get(t.Context(), pool, id)
	require.NoError(t, err)
	assert.JSONEq(t, "1", string(ended.Progress), "the history keeps it")
	assertEachChildOnce(t, pool, "x", 2)
}

func finishOne(t *testing.T, pool *pgxpool.Pool, s *store, job *Job) {
	t.Helper()
	owned, err := s.finish(t.Context(), pool, []*result{{job: job, outcome: outcomeCompleted}})
	require.NoError(t, err)
	require.True(t, owned[job.ID])
}

// assertEachChildOnce wants one child for each number from 0 to total-1.
func assertEachChildOnce(t *testing.T, pool *pgxpool.Pool, tenant string, total int) {
	t.Helper()
	rows, err := pool.Query(t.Context(), "SELECT payload::int FROM buzon.outbox_jobs WHERE job_type = 'child' AND tenant = $1 ORDER BY 1", tenant)
	require.NoError(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[int])
	require.NoError(t, err)
	var want []int
	for n := range total {
		want = append(want, n)
	}
	assert.Equal(t, want, got, tenant)
}
