package pgtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// What a database holds.
type content int

const (
	empty content = iota
	migrated
)

// A source makes databases on one server.
type source struct {
	url      string
	admin    *pgxpool.Pool // on the database of that URL
	vanishes bool          // the server ends with its test, and its databases with it
	strategy string        // how databases are copied

	template    sync.Mutex // held while the template is made
	hasTemplate bool
}

// newSource connects to a server. private says that it is one of ours, with
// its durability off.
func newSource(ctx context.Context, connString string, private bool) (*source, error) {
	if _, err := withDatabase(connString, ""); err != nil {
		return nil, err
	}
	admin, err := pgxpool.New(ctx, connString)
	if err != nil {
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	s := &source{url: connString, admin: admin}
	var version int
	if err := admin.QueryRow(ctx, "SELECT current_setting('server_version_num')::integer").Scan(&version); err != nil {
		admin.Close()
		return nil, fmt.Errorf("pgtest: %w", err)
	}
	if private && version >= 150000 {
		// Measured: 11 ms a database, where the default (copying through
		// the log) takes 26 ms. Without fsync its checkpoints cost nothing.
		s.strategy = " STRATEGY file_copy"
	}
	return s, nil
}

func (s *source) close() { s.admin.Close() }

// database creates a database for one test, and returns a pool on it.
func (s *source) database(t testing.TB, holds content, configure []func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()

	from := "template0"
	if holds == migrated {
		var err error
		from, err = s.ensureTemplate(ctx)
		require.NoError(t, err)
	}
	name := "buzon_test_" + strings.ToLower(rand.Text())
	require.NoError(t, s.create(ctx, name, from))
	if !s.vanishes {
		t.Cleanup(func() { s.drop(t, name) })
	}
	connString, err := withDatabase(s.url, name)
	require.NoError(t, err)
	return Connect(t, connString, configure...)
}

func (s *source) create(ctx context.Context, name, from string) error {
	_, err := s.admin.Exec(ctx, fmt.Sprintf("CREATE DATABASE %s TEMPLATE %s%s", quote(name), quote(from), s.strategy))
	if err != nil {
		return fmt.Errorf("pgtest: create a database: %w", err)
	}
	return nil
}

// drop drops a database, whoever is still connected to it.
func (s *source) drop(t testing.TB, name string) {
	t.Helper()
	ctx, cancel := cleanupContext(t)
	defer cancel()
	if _, err := s.admin.Exec(ctx, fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", quote(name))); err != nil {
		t.Errorf("pgtest: drop a database: %v", err)
	}
}

// withDatabase returns a connection string with another database in it.
func withDatabase(connString, database string) (string, error) {
	u, err := url.Parse(connString)
	if err != nil || u.Scheme == "" {
		return "", fmt.Errorf("pgtest: %s is not a URL such as postgres://user@host/database", EnvDatabaseURL)
	}
	u.Path = "/" + database
	return u.String(), nil
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// cleanupContext outlives the test, whose own context has ended by then.
func cleanupContext(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), limit)
}
