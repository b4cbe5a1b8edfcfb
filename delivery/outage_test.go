package delivery_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
)

// PostgreSQL goes away while handlers run and comes back after their leases
// would have ended: every result is written, nothing runs twice, although a
// second runner waits for the jobs.
func TestOutageWhileHandlersRun(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*pgtest.Server, context.Context) error{
		"planned": func(s *pgtest.Server, ctx context.Context) error { return s.Halt(ctx) },
		"crash":   func(s *pgtest.Server, ctx context.Context) error { return s.Crash(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pgtest.NewServer(t, pgtest.Settings{"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"})
			pool := server.New(t)
			queue := newQueue(t, pool)
			const jobs = 8
			var runs atomic.Int64
			started, goOn := make(chan int64, 10*jobs), make(chan struct{})
			config := types(handle("a", func(ctx context.Context, job *delivery.Job) error {
				runs.Add(1)
				started <- job.ID
				select {
				case <-goOn:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			}))
			var ids []int64
			for range jobs {
				ids = append(ids, insert(t, pool, queue, delivery.JobParams{Type: "a"}))
			}
			run(t, newRunner(t, queue, config))
			run(t, newRunner(t, queue, config))
			for range jobs {
				await(t, started)
			}
			require.NoError(t, end(server, t.Context()))
			close(goOn) // the results come while there is nobody to write them to
			require.NoError(t, server.Resume(t.Context()))
			for _, id := range ids {
				job := awaitState(t, queue, id, delivery.StateCompleted)
				assert.Zero(t, job.LostLeases)
				assert.EqualValues(t, 1, job.LeaseNumber)
			}
			assert.EqualValues(t, jobs, runs.Load())
		})
	}
}

// A runner that starts before its database does waits for it.
func TestRunnerWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	server := pgtest.NewServer(t)
	pool := server.New(t)
	queue := newQueue(t, pool)
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	require.NoError(t, server.Halt(t.Context()))
	runner := newRunner(t, queue, types(handle("a", func(context.Context, *delivery.Job) error { return nil })))
	run(t, runner)
	require.Error(t, runner.Ready(t.Context()))
	require.NoError(t, server.Resume(t.Context()))
	awaitState(t, queue, id, delivery.StateCompleted)
	require.NoError(t, runner.Ready(t.Context()))
}
