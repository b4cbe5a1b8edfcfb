package delivery

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/internal/timing"
)

// shortLease is shorter than any server has been up when a test claims, so
// that the grace after a restart does not matter.
const shortLease = time.Millisecond

func insertJob(t *testing.T, pool *pgxpool.Pool, s *store) int64 {
	t.Helper()
	inserted, err := s.insert(t.Context(), pool, jobRow{jobType: "a", payload: "{}", payloadVersion: 1, priority: 2, maxRetries: 5})
	require.NoError(t, err)
	return inserted.ID
}

func claimOne(t *testing.T, pool *pgxpool.Pool, s *store, owner string) claimed {
	t.Helper()
	jobs, err := s.claim(t.Context(), pool, []string{"a"}, []int{1}, time.Minute, owner, true)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	return jobs[0]
}

func endLease(t *testing.T, pool *pgxpool.Pool, id int64) {
	t.Helper()
	_, err := pool.Exec(t.Context(), "UPDATE buzon.outbox_jobs SET lease_until = now() - interval '1 second' WHERE id = $1", id)
	require.NoError(t, err)
}

// takeOver claims a job whose lease has ended, with a lease so short that the
// server has been up for longer.
func takeOverOne(t *testing.T, pool *pgxpool.Pool, s *store, owner string) claimed {
	t.Helper()
	var jobs []claimed
	require.Eventually(t, func() bool {
		var err error
		jobs, err = s.claim(context.WithoutCancel(t.Context()), pool, []string{"a"}, []int{1}, shortLease, owner, true)
		return err == nil && len(jobs) == 1
	}, 10*time.Second, time.Millisecond)
	_, err := pool.Exec(t.Context(), "UPDATE buzon.outbox_jobs SET lease_until = now() + interval '1 minute' WHERE id = $1", jobs[0].ID)
	require.NoError(t, err)
	return jobs[0]
}

// A worker whose lease ended cannot finish, retry, fail, release or renew what
// another one owns now.
func TestLateWorkerChangesNothing(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := newStore(DefaultSchema)
	id := insertJob(t, pool, s)
	early := claimOne(t, pool, s, "early")
	endLease(t, pool, id)
	late := takeOverOne(t, pool, s, "late")
	assert.Equal(t, early.LeaseNumber+1, late.LeaseNumber)
	assert.Equal(t, 1, late.LostLeases)
	before, err := s.get(t.Context(), pool, id)
	require.NoError(t, err)

	for _, o := range []outcome{outcomeCompleted, outcomeSkipped, outcomeFailed, outcomeCancelled} {
		owned, err := s.finish(t.Context(), pool, []*result{{job: early.Job, outcome: o, errorText: "late"}})
		require.NoError(t, err)
		assert.Empty(t, owned, o)
	}
	for _, o := range []outcome{outcomeRetried, outcomePostponed, outcomeReleased} {
		owned, err := s.putBack(t.Context(), pool, []*result{{job: early.Job, outcome: o, errorText: "late"}})
		require.NoError(t, err)
		assert.Empty(t, owned, o)
	}
	renewed, err := s.renew(t.Context(), pool, []leaseKey{{id, early.LeaseNumber}}, time.Hour)
	require.NoError(t, err)
	assert.Empty(t, renewed)
	fates, err := s.fates(t.Context(), pool, []*result{{job: early.Job}})
	require.NoError(t, err)
	assert.Empty(t, fates)

	after, err := s.get(t.Context(), pool, id)
	require.NoError(t, err)
	assert.Equal(t, before, after, "nothing of the job has changed")
	owned, err := s.finish(t.Context(), pool, []*result{{job: late.Job, outcome: outcomeCompleted}})
	require.NoError(t, err)
	assert.True(t, owned[id])
}

// A lease that has ended is still the worker's as long as nobody took it over:
// its result is worth having.
func TestEndedLeaseIsGoodUntilTakenOver(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := newStore(DefaultSchema)
	id := insertJob(t, pool, s)
	job := claimOne(t, pool, s, "slow")
	endLease(t, pool, id)
	owned, err := s.finish(t.Context(), pool, []*result{{job: job.Job, outcome: outcomeCompleted}})
	require.NoError(t, err)
	assert.True(t, owned[id])
}

// The fencing number survives every way back to pending, and a revival.
func TestLeaseNumberIsNeverReset(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := newStore(DefaultSchema)
	id := insertJob(t, pool, s)
	number := int64(0)
	for _, o := range []outcome{outcomeRetried, outcomePostponed, outcomeReleased} {
		job := claimOne(t, pool, s, "w")
		number++
		assert.Equal(t, number, job.LeaseNumber)
		owned, err := s.putBack(t.Context(), pool, []*result{{job: job.Job, outcome: o}})
		require.NoError(t, err)
		require.True(t, owned[id])
		owned, err = s.putBack(t.Context(), pool, []*result{{job: job.Job, outcome: o}})
		require.NoError(t, err)
		assert.Empty(t, owned, "a result counts once")
		fates, err := s.fates(t.Context(), pool, []*result{{job: job.Job}})
		require.NoError(t, err)
		assert.True(t, fates[id], "and is recognised as written")
	}
	job := claimOne(t, pool, s, "w")
	assert.Equal(t, 1, job.RetryCount, "only one of the three spent a retry")
	owned, err := s.finish(t.Context(), pool, []*result{{job: job.Job, outcome: outcomeFailed}})
	require.NoError(t, err)
	require.True(t, owned[id])
	fates, err := s.fates(t.Context(), pool, []*result{{job: job.Job}})
	require.NoError(t, err)
	assert.True(t, fates[id])

	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error { return s.makeDue(t.Context(), tx, id) }))
	job = claimOne(t, pool, s, "w")
	assert.EqualValues(t, 5, job.LeaseNumber)
	assert.Zero(t, job.RetryCount)
}

// Many claims at once hand each job to one of them.
func TestClaimsDoNotOverlap(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := newStore(DefaultSchema)
	const jobs, claimers = 300, 16
	_, err := pool.Exec(t.Context(), `INSERT INTO buzon.outbox_jobs (job_type, payload, max_retries, priority)
		SELECT 'a', '{}', 0, 1 + n % 3 FROM generate_series(1, $1) n`, jobs)
	require.NoError(t, err)
	var mu sync.Mutex
	owners := map[int64]int{}
	var wg sync.WaitGroup
	for i := range claimers {
		wg.Go(func() {
			for {
				got, err := s.claim(t.Context(), pool, []string{"a", "b"}, []int{7, 7}, time.Minute, "w", true)
				if !assert.NoError(t, err) || len(got) == 0 {
					return
				}
				assert.LessOrEqual(t, len(got), 7)
				mu.Lock()
				for _, job := range got {
					_, twice := owners[job.ID]
					assert.False(t, twice, "job %d", job.ID)
					owners[job.ID] = i
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	assert.Len(t, owners, jobs)
}

// In the first lease time after a start of PostgreSQL nobody's lease is taken
// over: nobody could renew one while it was down.
func TestNoTakeOverRightAfterARestart(t *testing.T) {
	t.Parallel()
	server := pgtest.NewServer(t)
	pool := server.New(t)
	s := newStore(DefaultSchema)
	id := insertJob(t, pool, s)
	claimOne(t, pool, s, "w")
	require.NoError(t, server.Halt(t.Context()))
	require.NoError(t, server.Resume(t.Context()))
	pool.Reset()
	endLease(t, pool, id)
	waiting := insertJob(t, pool, s)

	jobs, err := s.claim(t.Context(), pool, []string{"a"}, []int{5}, time.Hour, "other", true)
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	assert.Equal(t, waiting, jobs[0].ID, "what is pending is not held up")
	assert.Equal(t, id, takeOverOne(t, pool, s, "other").ID, "with the lease time over it is")
}

// A job whose row another session has locked is passed over, not waited for.
func TestLockedJobsAreSkipped(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := newStore(DefaultSchema)
	locked, free := insertJob(t, pool, s), insertJob(t, pool, s)
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SELECT FROM buzon.outbox_jobs WHERE id = $1 FOR UPDATE", locked)
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		jobs, err := s.claim(ctx, pool, []string{"a"}, []int{2}, time.Minute, "w", true)
		require.NoError(t, err)
		require.Len(t, jobs, 1)
		assert.Equal(t, free, jobs[0].ID)
		return nil
	}))
}

func TestFutureJobsAreNotClaimed(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := newStore(DefaultSchema)
	_, err := pool.Exec(t.Context(), `INSERT INTO buzon.outbox_jobs (job_type, payload, max_retries, next_retry_at)
		VALUES ('a', '{}', 0, now() + interval '1 hour')`)
	require.NoError(t, err)
	jobs, err := s.claim(t.Context(), pool, []string{"a"}, []int{5}, time.Minute, "w", true)
	require.NoError(t, err)
	assert.Empty(t, jobs)
}

// A batch with one result that the database refuses writes all the others, and
// that one without its text.
func TestRefusedResultDoesNotHoldUpItsBatch(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue, err := NewQueue(pool, QueueConfig{})
	require.NoError(t, err)
	var results []*result
	for range 3 {
		insertJob(t, pool, queue.store)
		results = append(results, &result{job: claimOne(t, pool, queue.store, "w").Job, outcome: outcomeFailed, done: make(chan struct{})})
	}
	results[1].errorText = "NUL \x00 that nobody took out"
	f := newFinisher(queue, &timing.Calm{}, time.Minute, queue.log)
	f.start()
	f.write(t.Context(), results, queue.store.finish)
	for i, res := range results {
		<-res.done
		assert.True(t, res.owned, "result %d", i)
	}
	job, err := queue.GetJob(t.Context(), results[1].job.ID)
	require.NoError(t, err)
	assert.Equal(t, StateFailed, job.State)
	assert.Equal(t, "the text could not be stored", job.LastError)
}

// A claim reads what it takes and little more, however much is due or waiting
// for later. The jobs that are due first have the last ids, so that no order of
// the table helps.
func TestClaimReadsOnlyWhatItTakes(t *testing.T) {
	t.Parallel()
	for name, due := range map[string]string{"later": "1 day", "backlog": "-1 hour"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			s := newStore(DefaultSchema)
			_, err := pool.Exec(t.Context(), `INSERT INTO buzon.outbox_jobs (job_type, payload, max_retries, priority, next_retry_at)
				SELECT 'a', '{}', 0, 2, now() + $1::text::interval - n * interval '1 millisecond' FROM generate_series(1, 200000) n`, due)
			require.NoError(t, err)
			_, err = pool.Exec(t.Context(), `VACUUM ANALYZE buzon.outbox_jobs`)
			require.NoError(t, err)
			for range 3 {
				insertJob(t, pool, s)
			}
			for _, plans := range []string{"force_custom_plan", "force_generic_plan"} {
				assert.Less(t, pagesRead(t, pool, plans, s.sql.claim,
					[]string{"a"}, []int{10}, time.Minute.Microseconds(), "w", true), 200, plans)
			}
		})
	}
}

// Keys that are taken are looked up one by one, in a call of any size: the table
// is not read from end to end for them.
func TestDuplicatesAreFoundWithoutASearch(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	s := newStore(DefaultSchema)
	_, err := pool.Exec(t.Context(), `INSERT INTO buzon.outbox_jobs (job_type, payload, max_retries, unique_key)
		SELECT 'a', '{}', 0, n FROM generate_series(1, 100000) n`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `VACUUM ANALYZE buzon.outbox_jobs`)
	require.NoError(t, err)
	rows := make([]jobRow, maxInsertJobs)
	for i := range rows {
		rows[i] = jobRow{jobType: "a", uniqueKey: new(strconv.Itoa(1 + i))}
	}
	plan, err := pool.Query(t.Context(), "EXPLAIN "+s.sql.findMany, newBatch(rows).keys()...)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(plan, pgx.RowTo[string])
	require.NoError(t, err)
	assert.Contains(t, strings.Join(lines, "\n"), "outbox_jobs_unique_key")
	assert.NotContains(t, strings.Join(lines, "\n"), "Seq Scan")
}

// pagesRead returns how many pages a statement touches; it is rolled back.
func pagesRead(t *testing.T, pool *pgxpool.Pool, plans, sql string, args ...any) int {
	t.Helper()
	var plan []struct {
		Plan map[string]any `json:"Plan"`
	}
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "SET LOCAL plan_cache_mode = "+plans)
	require.NoError(t, err)
	require.NoError(t, tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+sql, args...).Scan(&plan))
	require.NoError(t, tx.Rollback(t.Context()))
	return int(plan[0].Plan["Shared Hit Blocks"].(float64) + plan[0].Plan["Shared Read Blocks"].(float64))
}

// A process that was stopped for longer than half a lease takes nothing over
// until it has been awake for one: what has ended may be its own.
func TestOversleptRunnerTakesNothingOver(t *testing.T) {
	t.Parallel()
	r := &Runner{calm: &timing.Calm{}, config: RunnerConfig{Lease: time.Hour}}
	r.leases = newLeases(nil, r.calm, r.config.Lease, nil)
	assert.False(t, r.isCalm(), "it has not been awake yet")
	r.leases.wokeUp()
	assert.True(t, r.isCalm())
	r.leases.awake = time.Now().Add(-31 * time.Minute)
	assert.False(t, r.isCalm())
}
