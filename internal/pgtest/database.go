package pgtest

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

const (
	// limit bounds each thing that a helper does, so that a fault ends as a
	// failed test and not as one that hangs.
	limit = 2 * time.Minute
	// returnLimit is how long a pool waits for connections that the test
	// still has when it ends.
	returnLimit = 10 * time.Second
)

// New returns a pool on a fresh database that holds the library's schema,
// buzon. The functions may change the pool's configuration, such as MaxConns.
// When the test ends, the pool is closed, a connection that was not given back
// fails the test, and the database is dropped.
func New(t testing.TB, configure ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	return sharedSource(t).database(t, migrated, configure)
}

// NewEmpty is [New] with nothing in the database.
func NewEmpty(t testing.TB, configure ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	return sharedSource(t).database(t, empty, configure)
}

// URL returns the connection string of a pool's database, for a child process
// or for [Connect].
func URL(pool *pgxpool.Pool) string { return pool.Config().ConnString() }

// Connect returns one more pool on the database of a connection string, closed
// when the test ends.
func Connect(t testing.TB, connString string, configure ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(connString)
	require.NoError(t, err)
	for _, change := range configure {
		change(config)
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { closePool(t, pool, returnLimit) })
	return pool
}

// closePool does not wait for ever for a connection that a test has lost.
func closePool(t testing.TB, pool *pgxpool.Pool, limit time.Duration) {
	t.Helper()
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		pool.Close()
	}()
	patience := time.NewTimer(limit)
	defer patience.Stop()
	select {
	case <-closed:
	case <-patience.C:
		t.Errorf("pgtest: %d connections were not given back to the pool", pool.Stat().AcquiredConns())
	}
}
