package delivery_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/retry"
)

// namedError is an error that cannot be looked at where it is a nil pointer.
type namedError struct{ name string }

func (e *namedError) Error() string { return e.name }

// What a handler returns decides what becomes of the job.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	const maxRetries = 2
	failedFor := make(chan delivery.Job, 10)
	outcomes := map[string]struct {
		handler delivery.HandlerFunc
		want    func(*testing.T, *delivery.Job)
	}{
		"completed": {
			func(context.Context, *delivery.Job) error { return nil },
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateCompleted, j.State)
				assert.Empty(t, j.LastError)
				assert.False(t, j.FinishedAt.IsZero())
				assert.EqualValues(t, 1, j.LeaseNumber)
			},
		},
		"skipped": {
			func(context.Context, *delivery.Job) error {
				return fmt.Errorf("welcome: %w", delivery.Skip("no address"))
			},
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateCompleted, j.State)
				assert.Equal(t, "no address", j.SkipReason)
				assert.Empty(t, j.LastError)
			},
		},
		"permanent": {
			func(context.Context, *delivery.Job) error { return retry.Permanent(errBroken) },
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateFailed, j.State)
				assert.Equal(t, "broken", j.LastError)
				assert.EqualValues(t, 1, j.LeaseNumber, "one run")
			},
		},
		"exhausted": {
			func(context.Context, *delivery.Job) error { return errBroken },
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateFailed, j.State)
				assert.Equal(t, maxRetries, j.RetryCount)
				assert.EqualValues(t, maxRetries+1, j.LeaseNumber, "one run and its retries")
			},
		},
		"recovered": {
			func(_ context.Context, j *delivery.Job) error {
				if j.RetryCount < 1 {
					return errBroken
				}
				return nil
			},
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateCompleted, j.State)
				assert.Equal(t, 1, j.RetryCount)
				assert.Equal(t, "broken", j.LastError, "what went wrong stays on record")
			},
		},
		"postponed": {
			func(_ context.Context, j *delivery.Job) error {
				if j.LeaseNumber < 5 {
					return retry.After(time.Millisecond, errBroken)
				}
				return nil
			},
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateCompleted, j.State)
				assert.Zero(t, j.RetryCount, "waiting spends no retry")
				assert.EqualValues(t, 5, j.LeaseNumber)
			},
		},
		"panicked": {
			func(context.Context, *delivery.Job) error { panic("at the disco") },
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateFailed, j.State)
				assert.Contains(t, j.LastError, "panicked: at the disco")
				assert.Contains(t, j.LastError, "runner_test.go", "with its stack")
			},
		},
		"vanished": {
			func(context.Context, *delivery.Job) error { runtime.Goexit(); return nil },
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateFailed, j.State)
				assert.Contains(t, j.LastError, "ended its goroutine")
			},
		},
		"disguised": {
			func(context.Context, *delivery.Job) error {
				var nothing *namedError
				return nothing
			},
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateFailed, j.State)
				assert.Equal(t, maxRetries, j.RetryCount, "a failed attempt like any other")
				assert.Contains(t, j.LastError, "*delivery_test.namedError, panicked")
			},
		},
		"unstorable": {
			func(context.Context, *delivery.Job) error {
				return retry.Permanent(fmt.Errorf("nul \x00, bytes \xff, %s", strings.Repeat("long ", 10_000)))
			},
			func(t *testing.T, j *delivery.Job) {
				assert.Equal(t, delivery.StateFailed, j.State)
				assert.Contains(t, j.LastError, "nul \uFFFD, bytes \uFFFD, long")
			},
		},
	}
	var config delivery.RunnerConfig
	for name, o := range outcomes {
		config.JobTypes = append(config.JobTypes, delivery.JobType{
			Name: name, Handler: o.handler,
			OnFailed: func(_ context.Context, job delivery.Job) { failedFor <- job },
		})
	}
	ids := map[string]int64{}
	for name := range outcomes {
		ids[name] = insert(t, pool, queue, delivery.JobParams{Type: name, MaxRetries: maxRetries})
	}
	stop := run(t, newRunner(t, queue, config))
	for name, o := range outcomes {
		o.want(t, awaitJob(t, queue, ids[name], func(j *delivery.Job) bool { return j.State.Final() }))
	}
	require.NoError(t, stop())
	close(failedFor)
	var failed []string
	for job := range failedFor {
		assert.Equal(t, delivery.StateFailed, job.State)
		assert.NotEmpty(t, job.LastError)
		failed = append(failed, job.Type)
	}
	assert.ElementsMatch(t, []string{"permanent", "exhausted", "panicked", "vanished", "disguised", "unstorable"}, failed,
		"OnFailed is called once for each job that failed for good, and for no other")
}

// The strategy is asked with the retry count before it is raised, and its
// answer is when the job runs again, by the database's clock.
func TestRetryDelayComesFromTheRegistry(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	registry, err := retry.NewRegistry(nil)
	require.NoError(t, err)
	config := types(handle("email_notification_lote", func(context.Context, *delivery.Job) error { return errBroken }))
	config.Retry = registry
	id := insert(t, pool, queue, delivery.JobParams{Type: "email_notification_lote", MaxRetries: 5})
	run(t, newRunner(t, queue, config))
	for attempt, want := range []struct{ low, high int }{{60, 90}, {120, 150}, {240, 270}, {480, 510}, {960, 990}} {
		job := awaitJob(t, queue, id, func(j *delivery.Job) bool { return j.RetryCount == attempt+1 && j.State == delivery.StatePending })
		wait := job.NextRetryAt.Sub(job.StartedAt)
		assert.GreaterOrEqual(t, wait, time.Duration(want.low)*time.Second)
		assert.Less(t, wait, time.Duration(want.high)*time.Second+patience, "attempt %d", attempt)
		exec(t, pool, "UPDATE buzon.outbox_jobs SET next_retry_at = now() WHERE id = $1", id)
	}
	assert.Equal(t, 5, awaitState(t, queue, id, delivery.StateFailed).RetryCount)
}

// panicking is a broken strategy.
type panicking struct{}

func (panicking) NextDelay(int) time.Duration { panic("no delay") }
func (panicking) ShouldRetry(int, int) bool   { panic("no answer") }

func TestPanickingStrategyFallsBack(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	registry, err := retry.NewRegistry(panicking{})
	require.NoError(t, err)
	config := types(handle("a", func(context.Context, *delivery.Job) error { return errBroken }))
	config.Retry = registry
	id := insert(t, pool, queue, delivery.JobParams{Type: "a", MaxRetries: 1})
	run(t, newRunner(t, queue, config))
	awaitJob(t, queue, id, func(j *delivery.Job) bool {
		return j.RetryCount == 1 && j.NextRetryAt.After(j.StartedAt.Add(time.Minute))
	})
}

func TestTimeLimit(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	causes := make(chan error, 1)
	config := types(delivery.JobType{
		Name: "slow", TimeLimit: 20 * time.Millisecond,
		Handler: delivery.HandlerFunc(func(ctx context.Context, _ *delivery.Job) error {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return ctx.Err()
		}),
	})
	id := insert(t, pool, queue, delivery.JobParams{Type: "slow", MaxRetries: -1})
	run(t, newRunner(t, queue, config))
	job := awaitState(t, queue, id, delivery.StateFailed)
	assert.Contains(t, job.LastError, "time limit")
	require.ErrorIs(t, await(t, causes), delivery.ErrTimeLimit)
}

// An attempt that outstays its time limit spends a retry, also where it asks to
// come back without.
func TestTimeLimitSpendsARetry(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	config := types(delivery.JobType{
		Name: "slow", TimeLimit: time.Millisecond,
		Handler: delivery.HandlerFunc(func(ctx context.Context, _ *delivery.Job) error {
			<-ctx.Done()
			return retry.After(time.Hour, errBroken)
		}),
	})
	id := insert(t, pool, queue, delivery.JobParams{Type: "slow", MaxRetries: 1})
	run(t, newRunner(t, queue, config))
	assert.Equal(t, 1, awaitState(t, queue, id, delivery.StateFailed).RetryCount)
}

func TestNotBeforeAndNotAfter(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	var runs sync.Map
	config := types(handle("a", func(_ context.Context, j *delivery.Job) error {
		runs.Store(j.ID, time.Now())
		return nil
	}))
	start := time.Now()
	late := insert(t, pool, queue, delivery.JobParams{Type: "a", NotBefore: start.Add(300 * time.Millisecond)})
	tooLate := insert(t, pool, queue, delivery.JobParams{Type: "a", NotAfter: start.Add(-time.Second)})
	inTime := insert(t, pool, queue, delivery.JobParams{Type: "a", NotAfter: start.Add(time.Hour)})
	run(t, newRunner(t, queue, config))

	assert.Contains(t, awaitState(t, queue, tooLate, delivery.StateFailed).LastError, "NotAfter")
	_, ran := runs.Load(tooLate)
	assert.False(t, ran)
	awaitState(t, queue, inTime, delivery.StateCompleted)
	awaitState(t, queue, late, delivery.StateCompleted)
	at, _ := runs.Load(late)
	assert.False(t, at.(time.Time).Before(start.Add(300*time.Millisecond)))
}

func TestHigherPrioritiesComeFirst(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	var order []delivery.Priority
	config := types(delivery.JobType{
		Name: "a", Concurrency: 1,
		Handler: delivery.HandlerFunc(func(_ context.Context, j *delivery.Job) error {
			order = append(order, j.Priority) // one at a time
			return nil
		}),
	})
	var last int64
	for range 5 {
		for _, p := range []delivery.Priority{delivery.PriorityLow, delivery.PriorityNormal, delivery.PriorityHigh} {
			id := insert(t, pool, queue, delivery.JobParams{Type: "a", Priority: p})
			if p == delivery.PriorityLow {
				last = id
			}
		}
	}
	stop := run(t, newRunner(t, queue, config))
	awaitState(t, queue, last, delivery.StateCompleted)
	require.NoError(t, stop())
	assert.True(t, slices.IsSortedFunc(order, func(a, b delivery.Priority) int { return int(b - a) }), "%v", order)
	assert.Len(t, order, 15)
}

func TestConcurrencyIsALimit(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	const limit, jobs = 3, 12
	var running, most atomic.Int64
	reached := make(chan struct{})
	config := types(delivery.JobType{
		Name: "a", Concurrency: limit,
		Handler: delivery.HandlerFunc(func(ctx context.Context, _ *delivery.Job) error {
			defer running.Add(-1)
			n := running.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			if n == limit {
				select {
				case <-reached:
				default:
					close(reached)
				}
			}
			select { // the first ones wait until the limit was reached
			case <-reached:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}),
	})
	var ids []int64
	for range jobs {
		ids = append(ids, insert(t, pool, queue, delivery.JobParams{Type: "a"}))
	}
	run(t, newRunner(t, queue, config))
	for _, id := range ids {
		awaitState(t, queue, id, delivery.StateCompleted)
	}
	assert.EqualValues(t, limit, most.Load())
}

func TestUnknownTypesAreLeftAlone(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	unknown := insert(t, pool, queue, delivery.JobParams{Type: "somebody_elses"})
	known := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	run(t, newRunner(t, queue, types(handle("a", func(context.Context, *delivery.Job) error { return nil }))))
	awaitState(t, queue, known, delivery.StateCompleted)
	job, err := queue.GetJob(t.Context(), unknown)
	require.NoError(t, err)
	assert.Equal(t, delivery.StatePending, job.State)
	assert.Zero(t, job.LeaseNumber)
}

// Several runners share a queue, and nobody's crash is simulated: each job runs
// exactly once.
func TestRunnersShareTheJobs(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	const jobs, runners = 1000, 4
	exec(t, pool, `INSERT INTO buzon.outbox_jobs (job_type, payload, max_retries) SELECT 'a', '{}', 0 FROM generate_series(1, $1)`, jobs)
	var runs [jobs + 1]atomic.Int64
	var left atomic.Int64
	left.Store(jobs)
	done := make(chan struct{})
	handler := func(_ context.Context, j *delivery.Job) error {
		runs[j.ID].Add(1)
		if left.Add(-1) == 0 {
			close(done)
		}
		return nil
	}
	var stops []func() error
	for range runners {
		stops = append(stops, run(t, newRunner(t, queue, types(handle("a", handler)))))
	}
	await(t, done)
	for _, stop := range stops {
		require.NoError(t, stop())
	}
	for id := 1; id <= jobs; id++ {
		assert.EqualValues(t, 1, runs[id].Load(), "job %d", id)
	}
	assert.Equal(t, jobs, count(t, pool, "SELECT count(*) FROM buzon.outbox_job_history WHERE state = 'completed'"))
	assert.Zero(t, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs"))
}

// A pool of one connection is slow, and must not be a deadlock.
func TestPoolOfOneConnection(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, func(c *pgxpool.Config) { c.MaxConns = 1 })
	queue := newQueue(t, pool)
	config := types(handle("a", func(ctx context.Context, _ *delivery.Job) error {
		_, err := pool.Exec(ctx, "SELECT 1")
		return err
	}))
	run(t, newRunner(t, queue, config))
	var ids []int64
	for range 20 {
		ids = append(ids, insert(t, pool, queue, delivery.JobParams{Type: "a"}))
	}
	for _, id := range ids {
		awaitState(t, queue, id, delivery.StateCompleted)
	}
}

func TestHandlerMayChangeItsCopy(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	config := types(handle("a", func(_ context.Context, j *delivery.Job) error {
		j.ID, j.LeaseNumber, j.RetryCount = 0, 0, 99
		return nil
	}))
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	run(t, newRunner(t, queue, config))
	awaitState(t, queue, id, delivery.StateCompleted)
}

func TestDecode(t *testing.T) {
	t.Parallel()
	job := &delivery.Job{ID: 7, Type: "a", Payload: []byte(`{"id": 42}`), PayloadVersion: 2}
	var payload struct{ ID int }
	require.NoError(t, job.Decode(2, &payload))
	assert.Equal(t, 42, payload.ID)
	require.NoError(t, job.Decode(3, &payload), "an older payload is the handler's to understand")

	err := job.Decode(1, &payload)
	delay, ok := retry.AfterDelay(err)
	assert.True(t, ok, "a newer one waits for a newer process")
	assert.Equal(t, time.Minute, delay)
	require.ErrorContains(t, err, "version 2")

	job.Payload = []byte(`{"id": "forty-two"}`)
	err = job.Decode(2, &payload)
	assert.True(t, retry.IsPermanent(err))
	require.ErrorContains(t, err, "job 7")
}

func TestRunnerConfigFaults(t *testing.T) {
	t.Setenv("MAIL_RETRY_BASE_DELAY", "0")
	_, err := delivery.NewRunner(nil, delivery.RunnerConfig{
		JobTypes: []delivery.JobType{
			{Name: "a", Handler: delivery.HandlerFunc(nil)}, {Name: "a", Concurrency: -1}, {},
		},
		Lease: time.Millisecond, PollInterval: -1, StopTimeout: -1,
	})
	for _, want := range []string{
		"the queue is nil", "Lease is 1ms", "PollInterval is -1ns", "StopTimeout is -1ns",
		`JobTypes[0] ("a"): Handler is nil`, `JobTypes[1] ("a"): Handler is nil`, `JobTypes[1] ("a"): Concurrency is -1`, `JobTypes[1] ("a"): Name is there twice`,
		`JobTypes[2] (""): Name is empty`, `MAIL_RETRY_BASE_DELAY="0"`,
	} {
		require.ErrorContains(t, err, want)
	}
	_, err = delivery.NewRunner(nil, delivery.RunnerConfig{})
	require.ErrorContains(t, err, "JobTypes is empty")
}

func TestReady(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	runner := newRunner(t, queue, types(handle("a", func(context.Context, *delivery.Job) error { return nil })))
	require.ErrorContains(t, runner.Ready(t.Context()), "not running")
	stop := run(t, runner)
	require.Eventually(t, func() bool { return runner.Ready(t.Context()) == nil }, patience, time.Millisecond)
	exec(t, pool, "ALTER TABLE buzon.outbox_jobs RENAME TO elsewhere")
	require.ErrorIs(t, runner.Ready(t.Context()), delivery.ErrNotMigrated)
	require.NoError(t, stop())
	require.ErrorContains(t, runner.Ready(t.Context()), "not running")
}

func TestRunWithoutMigration(t *testing.T) {
	t.Parallel()
	queue := newQueue(t, pgtest.NewEmpty(t))
	runner := newRunner(t, queue, types(handle("a", func(context.Context, *delivery.Job) error { return nil })))
	err := runner.Run(t.Context())
	require.ErrorIs(t, err, delivery.ErrNotMigrated)
	require.ErrorContains(t, err, `schema "buzon"`)
}

func TestRunTwiceAtOnce(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	runner := newRunner(t, queue, types(handle("a", func(context.Context, *delivery.Job) error { return nil })))
	stop := run(t, runner)
	require.Eventually(t, func() bool { return runner.Ready(t.Context()) == nil }, patience, time.Millisecond)
	require.ErrorContains(t, runner.Run(t.Context()), "running already")
	require.NoError(t, stop())

	for range 50 { // one after the other is fine, and loses no result
		id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
		stop := run(t, runner)
		job := awaitState(t, queue, id, delivery.StateCompleted)
		require.EqualValues(t, 1, job.LeaseNumber)
		require.NoError(t, stop())
	}
}
