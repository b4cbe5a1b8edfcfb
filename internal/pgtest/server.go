package pgtest

import (
	"context"
	"maps"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/postgres"
)

// Settings are run-time settings of PostgreSQL by name.
type Settings = map[string]string

// testSettings trade durability for speed, and leave room for many parallel
// tests.
var testSettings = Settings{
	"fsync":                           "off",
	"synchronous_commit":              "off",
	"full_page_writes":                "off",
	"wal_level":                       "minimal",
	"max_wal_senders":                 "0",
	"max_connections":                 "500",
	"shared_buffers":                  "64MB",
	"max_parallel_workers_per_gather": "0",
	"jit":                             "off",
	"log_checkpoints":                 "off",
}

// A Server is a PostgreSQL server of one test's own, which the test may halt,
// crash and resume.
type Server struct {
	*postgres.Server
	source *source
}

// NewServer starts a server for one test, and stops it when the test ends.
// Settings come on top of those that the shared server has, durability off.
func NewServer(t testing.TB, settings ...Settings) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()

	all := maps.Clone(testSettings)
	for _, s := range settings {
		maps.Copy(all, s)
	}
	server, err := postgres.Start(ctx, postgres.Config{Settings: all})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := cleanupContext(t)
		defer cancel()
		if err := server.Stop(ctx); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	source, err := newSource(ctx, server.URL("postgres"), true)
	require.NoError(t, err)
	t.Cleanup(source.close)
	source.vanishes = true
	return &Server{Server: server, source: source}
}

// New is the package's [New] on this server. The database is not dropped, as
// it ends with its server.
func (s *Server) New(t testing.TB, configure ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	return s.source.database(t, migrated, configure)
}

// NewEmpty is the package's [NewEmpty] on this server.
func (s *Server) NewEmpty(t testing.TB, configure ...func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	return s.source.database(t, empty, configure)
}
