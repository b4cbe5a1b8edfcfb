package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/migrations"
)

// ensureTemplate returns the name of the database that migrated ones are
// copied from, after making it where the server has none for these migrations.
func (s *source) ensureTemplate(ctx context.Context) (string, error) {
	name, err := templateName()
	if err != nil {
		return "", err
	}
	s.template.Lock()
	defer s.template.Unlock()
	if s.hasTemplate {
		return name, nil
	}
	if err := s.makeTemplateOnce(ctx, name); err != nil {
		return "", fmt.Errorf("pgtest: the template database: %w", err)
	}
	s.hasTemplate = true
	return name, nil
}

// makeTemplateOnce works under a lock, since test processes can share a
// server. It has a connection of its own, and the lock ends with that.
func (s *source) makeTemplateOnce(ctx context.Context, name string) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock(hashtextextended($1, 0))`, name); err != nil {
		return err
	}
	var exists bool
	err = conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists)
	if err != nil || exists {
		return err
	}
	return s.makeTemplate(ctx, name)
}

// makeTemplate gives the template its name last, so that nobody ever copies
// half of one.
func (s *source) makeTemplate(ctx context.Context, name string) error {
	unfinished := name + "_unfinished"
	// There is one where a process died here.
	if err := s.execute(ctx, "DROP DATABASE IF EXISTS %s WITH (FORCE)", unfinished); err != nil {
		return err
	}
	if err := s.create(ctx, unfinished, "template0"); err != nil {
		return err
	}
	if err := s.migrate(ctx, unfinished); err != nil {
		return err
	}
	// Nobody can connect to it, so that nobody's connection is in the way of
	// a copy.
	if err := s.execute(ctx, "ALTER DATABASE %s ALLOW_CONNECTIONS false", unfinished); err != nil {
		return err
	}
	return s.execute(ctx, "ALTER DATABASE %s RENAME TO %s", unfinished, name)
}

// execute runs a statement on databases by name.
func (s *source) execute(ctx context.Context, format string, names ...string) error {
	var quoted []any
	for _, name := range names {
		quoted = append(quoted, quote(name))
	}
	_, err := s.admin.Exec(ctx, fmt.Sprintf(format, quoted...))
	return err
}

func (s *source) migrate(ctx context.Context, database string) error {
	connString, err := withDatabase(s.url, database)
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, connString)
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = migrations.Up(ctx, pool, migrations.DefaultSchema)
	return err
}

// templateName is another one for other migrations.
func templateName() (string, error) {
	scripts, err := migrations.SQL(migrations.DefaultSchema)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, script := range scripts {
		fmt.Fprintf(hash, "%d\x00%s\x00%s\x00", script.Version, script.Name, script.SQL)
	}
	return "buzon_template_" + hex.EncodeToString(hash.Sum(nil))[:16], nil
}
