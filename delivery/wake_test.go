package delivery_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
)

// startedRunner runs a runner that polls once an hour, and returns the channel
// of the jobs that it has run. A first job tells that it is up and has looked.
func startedRunner(t *testing.T, queue *delivery.Queue, first func(), config func(*delivery.RunnerConfig)) <-chan int64 {
	t.Helper()
	ran := make(chan int64, 10)
	c := types(handle("a", func(_ context.Context, job *delivery.Job) error {
		ran <- job.ID
		return nil
	}))
	c.PollInterval = never
	if config != nil {
		config(&c)
	}
	first()
	run(t, newRunner(t, queue, c))
	await(t, ran)
	return ran
}

func TestBeginFuncWakesTheRunner(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	ran := startedRunner(t, queue,
		func() { insert(t, pool, queue, delivery.JobParams{Type: "a"}) },
		func(c *delivery.RunnerConfig) { c.NoListen = true })

	var direct, inSavepoint delivery.Inserted
	err := delivery.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
		direct, err = queue.Insert(t.Context(), tx, delivery.JobParams{Type: "a"})
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, direct.ID, await(t, ran))

	err = delivery.BeginTxFunc(t.Context(), pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
		return pgx.BeginFunc(t.Context(), tx, func(savepoint pgx.Tx) (err error) {
			inSavepoint, err = queue.Insert(t.Context(), savepoint, delivery.JobParams{Type: "a"})
			return err
		})
	})
	require.NoError(t, err)
	assert.Equal(t, inSavepoint.ID, await(t, ran))
}

func TestWakeByHand(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	ran := startedRunner(t, queue,
		func() { insert(t, pool, queue, delivery.JobParams{Type: "a"}) },
		func(c *delivery.RunnerConfig) { c.NoListen = true })
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	queue.Wake("a")
	assert.Equal(t, id, await(t, ran))
}

// A process that only publishes wakes the runners of others.
func TestBeginFuncWakesOtherProcesses(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	ran := startedRunner(t, queue, func() { insert(t, pool, queue, delivery.JobParams{Type: "a"}) }, nil)
	// The runner listens when one NOTIFY has come through.
	publisher := newQueue(t, pgtest.Connect(t, pgtest.URL(pool)))
	for range 20 {
		var inserted delivery.Inserted
		err := delivery.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
			inserted, err = publisher.Insert(t.Context(), tx, delivery.JobParams{Type: "a"})
			return err
		})
		require.NoError(t, err)
		assert.Equal(t, inserted.ID, await(t, ran))
	}
}

func TestNoNotify(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	quiet, err := delivery.NewQueue(pool, delivery.QueueConfig{NoNotify: true, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), pgtest.URL(pool))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	channel := delivery.Channel(quiet)
	_, err = conn.Exec(t.Context(), "LISTEN "+channel)
	require.NoError(t, err)
	quiet.Wake("a")
	quiet.Close()

	loud := newQueue(t, pool)
	loud.Wake("a")
	loud.Close()
	_, err = conn.WaitForNotification(t.Context())
	require.NoError(t, err)
	exec(t, pool, "SELECT pg_notify($1, 'end')", channel)
	notification, err := conn.WaitForNotification(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "end", notification.Payload, "only the loud one was heard")
}

// A runner that drains takes no jobs any more, so that its process's wakes go
// to others.
func TestDrainingRunnerPassesWakesOn(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	conn, err := pgx.Connect(t.Context(), pgtest.URL(pool))
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	_, err = conn.Exec(t.Context(), "LISTEN "+delivery.Channel(queue))
	require.NoError(t, err)

	started, goOn := make(chan int64, 1), make(chan struct{})
	runner := newRunner(t, queue, types(handle("a", func(_ context.Context, job *delivery.Job) error {
		started <- job.ID
		<-goOn
		return nil
	})))
	insert(t, pool, queue, delivery.JobParams{Type: "a"})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	await(t, started)
	cancel()
	waiting, giveUp := context.WithTimeout(t.Context(), patience)
	defer giveUp()
	heard := make(chan error, 1)
	go func() {
		_, err := conn.WaitForNotification(waiting)
		heard <- err
	}()
	require.Eventually(t, func() bool {
		queue.Wake("a")
		return len(heard) > 0
	}, patience, 10*time.Millisecond)
	require.NoError(t, <-heard)
	close(goOn)
	require.NoError(t, await(t, ended))
}
