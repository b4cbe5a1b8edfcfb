package delivery_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/retry"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// patience is how long a test waits for what must come; it is not a measure.
const patience = 30 * time.Second

// lease is short, so that a test sees its end, and long enough to be renewed on
// a busy machine.
const lease = 2 * time.Second

// never is a poll interval for tests in which only a wake may help.
const never = time.Hour

func newQueue(t testing.TB, pool *pgxpool.Pool) *delivery.Queue {
	t.Helper()
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(queue.Close)
	return queue
}

// immediately retries without waiting.
type immediately struct{}

func (immediately) NextDelay(int) time.Duration              { return 0 }
func (immediately) ShouldRetry(attempt, maxRetries int) bool { return attempt < maxRetries }

// newRunner returns a runner that is quick to notice things.
func newRunner(t testing.TB, queue *delivery.Queue, config delivery.RunnerConfig) *delivery.Runner {
	t.Helper()
	if config.PollInterval == 0 {
		config.PollInterval = 20 * time.Millisecond
	}
	if config.Lease == 0 {
		config.Lease = lease
	}
	if config.Retry == nil {
		registry, err := retry.NewRegistry(immediately{})
		require.NoError(t, err)
		config.Retry = registry
	}
	config.Logger = slog.New(slog.DiscardHandler)
	runner, err := delivery.NewRunner(queue, config)
	require.NoError(t, err)
	return runner
}

// run runs a runner until the test, or the function that it returns, ends it.
func run(t testing.TB, runner *delivery.Runner) (stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	var err error
	stopped := false
	stop = func() error {
		cancel()
		if !stopped {
			err, stopped = <-ended, true
		}
		return err
	}
	t.Cleanup(func() { assert.NoError(t, stop()) })
	return stop
}

// handle returns a job type whose handler is f.
func handle(name string, f delivery.HandlerFunc) delivery.JobType {
	return delivery.JobType{Name: name, Handler: f}
}

// types makes a runner's configuration.
func types(jobTypes ...delivery.JobType) delivery.RunnerConfig {
	return delivery.RunnerConfig{JobTypes: jobTypes}
}

// insert commits a job without waking anybody.
func insert(t testing.TB, pool *pgxpool.Pool, queue *delivery.Queue, params delivery.JobParams) int64 {
	t.Helper()
	var inserted delivery.Inserted
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
		inserted, err = queue.Insert(t.Context(), tx, params)
		return err
	})
	require.NoError(t, err)
	return inserted.ID
}

// awaitJob waits until the job is as wanted.
func awaitJob(t testing.TB, queue *delivery.Queue, id int64, wanted func(*delivery.Job) bool) *delivery.Job {
	t.Helper()
	var job *delivery.Job
	require.Eventually(t, func() bool {
		var err error
		job, err = queue.GetJob(context.WithoutCancel(t.Context()), id)
		return err == nil && wanted(job)
	}, patience, 5*time.Millisecond, "job %d did not get there: %+v", id, job)
	return job
}

func awaitState(t testing.TB, queue *delivery.Queue, id int64, state delivery.State) *delivery.Job {
	t.Helper()
	return awaitJob(t, queue, id, func(j *delivery.Job) bool { return j.State == state })
}

// await receives, or fails the test.
func await[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		require.FailNow(t, "what must come did not come")
		panic("unreachable")
	}
}

func exec(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func count(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) int {
	t.Helper()
	var n int
	require.NoError(t, pool.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

var errBroken = errors.New("broken")
