package migrations_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
)

// TestHostsThatStartTogether has sixteen hosts with their own pools.
func TestHostsThatStartTogether(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "sucursal")
	const hosts = 16
	var mu sync.Mutex
	var library, branch []string
	start := make(chan struct{})
	var group sync.WaitGroup
	for range hosts {
		own := pgtest.Connect(t, pgtest.URL(pool), func(c *pgxpool.Config) { c.MaxConns = 2 })
		group.Go(func() {
			<-start
			steps, err := migrations.Up(t.Context(), own, "")
			assert.NoError(t, err)
			branchSteps, err := migrations.UpBranch(t.Context(), own, "sucursal")
			assert.NoError(t, err)
			mu.Lock()
			defer mu.Unlock()
			library = append(library, stepNames(t, steps)...)
			branch = append(branch, stepNames(t, branchSteps)...)
		})
	}
	close(start)
	group.Wait()
	assert.ElementsMatch(t, librarySteps, library, "each step once")
	assert.ElementsMatch(t, branchSteps, branch, "each step once")
}

// TestSmallPools would hang if a caller held a connection of the pool while it
// waits for another caller, or for another connection.
func TestSmallPools(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pool := pgtest.NewEmpty(t, func(c *pgxpool.Config) { c.MaxConns = 1 })
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := migrations.Up(ctx, pool, "")
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.EqualValues(t, 0, pool.Stat().AcquiredConns())
	steps, err := migrations.Status(ctx, pool, "")
	require.NoError(t, err)
	assert.Equal(t, librarySteps, stepNames(t, steps))
}

func TestOtherSchemasDoNotWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "other")
	unlock, err := migrations.LockLibrary(ctx, pool, "buzon")
	require.NoError(t, err)
	defer unlock()
	unlockBranch, err := migrations.LockBranch(ctx, pool, "sucursal")
	require.NoError(t, err)
	defer unlockBranch()

	_, err = migrations.Up(ctx, pool, "other")
	require.NoError(t, err, "another schema")
	_, err = migrations.UpBranch(ctx, pool, "other")
	require.NoError(t, err, "another schema")
	createSchema(t, pool, "buzon")
	_, err = migrations.UpBranch(ctx, pool, "buzon")
	require.NoError(t, err, "another set of the same schema")
}

func TestOtherDatabasesDoNotWait(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	one, other := pgtest.NewEmpty(t), pgtest.NewEmpty(t)
	unlock, err := migrations.LockLibrary(ctx, one, "buzon")
	require.NoError(t, err)
	defer unlock()
	_, err = migrations.Up(ctx, other, "")
	require.NoError(t, err)
}

// TestLockEndsWithTheContext also has time limits in the way, which are the
// host's for other work.
func TestLockEndsWithTheContext(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t, func(c *pgxpool.Config) {
		for _, limit := range []string{"lock_timeout", "idle_in_transaction_session_timeout"} {
			c.ConnConfig.RuntimeParams[limit] = "100ms"
		}
	})
	unlock, err := migrations.LockLibrary(t.Context(), pool, "buzon")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() {
		_, err := migrations.Up(ctx, pool, "")
		result <- err
	}()

	const waiting = `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
	require.Eventually(t, func() bool { return query[int](t, pool, waiting) == 1 }, time.Minute, 10*time.Millisecond)
	select {
	case err := <-result:
		t.Fatalf("one of the limits ended it: %v", err)
	case <-time.After(300 * time.Millisecond): // three times the limits
	}
	cancel()
	require.ErrorIs(t, <-result, context.Canceled)

	unlock()
	_, err = migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
}

// TestLockConnectsAsThePoolDoes has a password that only the pool's hook knows.
func TestLockConnectsAsThePoolDoes(t *testing.T) {
	t.Parallel()
	plain := pgtest.NewEmpty(t)
	pool := pgtest.Connect(t, pgtest.URL(plain), func(c *pgxpool.Config) {
		password := c.ConnConfig.Password
		c.ConnConfig.Password = ""
		c.BeforeConnect = func(_ context.Context, config *pgx.ConnConfig) error {
			config.Password = password
			return nil
		}
	})
	_, err := migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
}
