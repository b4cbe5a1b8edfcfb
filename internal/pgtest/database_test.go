package pgtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/migrations"
)

func query[T any](t *testing.T, pool *pgxpool.Pool, sql string) (value T) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&value))
	return value
}

func TestNewIsMigrated(t *testing.T) {
	t.Parallel()
	pool := New(t)
	require.NoError(t, migrations.Check(t.Context(), pool, migrations.DefaultSchema))
	applied, err := migrations.Up(t.Context(), pool, migrations.DefaultSchema)
	require.NoError(t, err)
	assert.Empty(t, applied, "nothing is left to do")
}

func TestNewEmpty(t *testing.T) {
	t.Parallel()
	err := migrations.Check(t.Context(), NewEmpty(t), migrations.DefaultSchema)
	require.ErrorIs(t, err, migrations.ErrNoSchema)
}

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	one, other := New(t), New(t)
	_, err := one.Exec(t.Context(), "CREATE TABLE buzon.mine AS SELECT 1")
	require.NoError(t, err)
	assert.Equal(t, "buzon.mine", query[string](t, one, "SELECT to_regclass('buzon.mine')::text"))
	assert.Nil(t, query[*string](t, other, "SELECT to_regclass('buzon.mine')::text"))
}

func TestConfigure(t *testing.T) {
	t.Parallel()
	pool := New(t, func(c *pgxpool.Config) { c.MaxConns = 1 })
	assert.EqualValues(t, 1, pool.Config().MaxConns)
}

func TestURLLeadsToTheSameDatabase(t *testing.T) {
	t.Parallel()
	pool := New(t)
	second := Connect(t, URL(pool), func(c *pgxpool.Config) { c.MaxConns = 2 })
	const name = "SELECT current_database()"
	assert.Equal(t, query[string](t, pool, name), query[string](t, second, name))
	assert.EqualValues(t, 2, second.Config().MaxConns)
}

func TestDatabaseIsDropped(t *testing.T) {
	t.Parallel()
	server := NewServer(t)
	server.source.vanishes = false
	observer := server.NewEmpty(t)
	var name string
	t.Run("test", func(t *testing.T) {
		pool := server.New(t)
		name = query[string](t, pool, "SELECT current_database()")
		stray, err := pgxpool.New(t.Context(), URL(pool))
		require.NoError(t, err)
		require.NoError(t, stray.Ping(t.Context()))
		t.Cleanup(stray.Close) // runs first, but its session may take a moment to end
	})
	assert.False(t, query[bool](t, observer, fmt.Sprintf("SELECT EXISTS (SELECT FROM pg_database WHERE datname = '%s')", name)))
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	for i := range 16 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, 0, query[int](t, New(t), "SELECT count(*) FROM buzon.outbox_jobs"))
		})
	}
}

// A recorder is a test whose failure is expected.
type recorder struct {
	testing.TB
	faults []string
}

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func TestLostConnectionFailsTheTest(t *testing.T) {
	t.Parallel()
	pool := New(t)
	conn, err := pool.Acquire(t.Context())
	require.NoError(t, err)

	r := &recorder{TB: t}
	closePool(r, pool, 50*time.Millisecond)
	require.Len(t, r.faults, 1)
	assert.Contains(t, r.faults[0], "1 connections were not given back")
	conn.Release()
}

func TestServerOfOnesOwn(t *testing.T) {
	t.Parallel()
	server := NewServer(t, Settings{"work_mem": "5MB"})
	pool := server.New(t)
	assert.Equal(t, "5MB", query[string](t, pool, "SHOW work_mem"))
	assert.Equal(t, "off", query[string](t, pool, "SHOW fsync"))

	require.NoError(t, server.Crash(t.Context()))
	require.Error(t, pool.Ping(t.Context()))
	require.NoError(t, server.Resume(t.Context()))
	require.NoError(t, pool.Ping(t.Context()))
	require.NoError(t, migrations.Check(t.Context(), pool, migrations.DefaultSchema))

	require.NoError(t, server.Halt(t.Context())) // and the test ends while it is down
}

func TestHostsServer(t *testing.T) {
	server := NewServer(t)
	t.Setenv(EnvDatabaseURL, server.URL("postgres"))
	var s sharedServer
	source, err := s.get()
	require.NoError(t, err)
	t.Run("test", func(t *testing.T) {
		pool := source.database(t, migrated, nil)
		require.NoError(t, migrations.Check(t.Context(), pool, migrations.DefaultSchema))
	})

	require.NoError(t, s.stop())
	require.NoError(t, server.NewEmpty(t).Ping(t.Context()), "it is not ours to stop")
}

func TestHostsServerByKeywords(t *testing.T) {
	t.Setenv(EnvDatabaseURL, "host=127.0.0.1 password=hunter2")
	var s sharedServer
	_, err := s.get()
	require.ErrorContains(t, err, EnvDatabaseURL)
	assert.NotContains(t, err.Error(), "hunter2")
}
