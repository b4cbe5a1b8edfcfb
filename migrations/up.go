package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

// ErrNotTracked is returned by [Up] and [UpBranch] for a schema that has some
// of the tables and no record of who made them: they come from copied SQL, or
// are somebody else's. Nothing has been changed. Whoever copied the first steps
// goes on copying.
var ErrNotTracked = errors.New("its tables were not made by Up")

// Up brings the library's schema to the version that this library needs, and
// returns the steps that it took: none where the schema is up to date. An empty
// name means [DefaultSchema]. The schema is created where it is missing.
//
// Hosts that start at the same time wait for each other; ctx bounds the wait
// and the steps. Each step is a transaction of its own: after an error the
// steps before the one that failed stay, and are returned with the error. A
// schema that a newer library has migrated further is left as it is.
//
// Up uses one connection of the pool at a time, and one outside of it.
func Up(ctx context.Context, pool *pgxpool.Pool, schema string) ([]Step, error) {
	schema, err := librarySchema(schema)
	if err != nil {
		return nil, err
	}
	return librarySet.up(ctx, pool, schema, createSchema)
}

// UpBranch is [Up] for the tables of a branch (sucursal) in the branch's own
// schema. The schema must exist: a missing one is [ErrNoSchema], since a name
// that is misspelt must not become a branch.
func UpBranch(ctx context.Context, pool *pgxpool.Pool, schema string) ([]Step, error) {
	if err := CheckSchemaName(schema); err != nil {
		return nil, err
	}
	return branchSet.up(ctx, pool, schema, requireSchema)
}

func (s *set) up(ctx context.Context, pool *pgxpool.Pool, schema string, ensure func(context.Context, *sql.DB, string) error) ([]Step, error) {
	// The lock comes first: CREATE SCHEMA IF NOT EXISTS fails when two hosts
	// run it at once, and goose looks before it locks.
	unlock, err := s.lock(ctx, pool, schema)
	if err != nil {
		return nil, err
	}
	defer unlock()

	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	if err := ensure(ctx, db, schema); err != nil {
		return nil, fmt.Errorf("migrations: schema %q: %w", schema, err)
	}
	if err := s.refuseUntracked(ctx, db, schema); err != nil {
		return nil, fmt.Errorf("migrations: schema %q: %w", schema, err)
	}
	return s.takeSteps(ctx, db, schema)
}

// createSchema asks first, since CREATE SCHEMA IF NOT EXISTS needs the right
// to create schemas even where there is nothing to create.
func createSchema(ctx context.Context, db *sql.DB, schema string) error {
	exists, err := schemaExists(ctx, db, schema)
	if err != nil || exists {
		return err
	}
	// Somebody who does not know of the lock can still come in between.
	_, err = db.ExecContext(ctx, `CREATE SCHEMA IF NOT EXISTS `+quote(schema))
	return err
}

func requireSchema(ctx context.Context, db *sql.DB, schema string) error {
	exists, err := schemaExists(ctx, db, schema)
	if err == nil && !exists {
		err = ErrNoSchema
	}
	return err
}

// refuseUntracked fails where tables of the set stand in the schema and none
// of its steps is on record.
func (s *set) refuseUntracked(ctx context.Context, db *sql.DB, schema string) error {
	applied, err := s.applied(ctx, db, schema)
	if err != nil || len(applied) > 0 {
		return err
	}
	for _, name := range s.tableNames() {
		exists, err := tableExists(ctx, db, schema, name)
		if err != nil {
			return err
		}
		if exists {
			return fmt.Errorf("table %s is there, and no step is on record: %w", name, ErrNotTracked)
		}
	}
	return nil
}

func (s *set) takeSteps(ctx context.Context, db *sql.DB, schema string) ([]Step, error) {
	provider, err := s.provider(db, schema)
	if err != nil {
		return nil, fmt.Errorf("migrations: schema %q: %w", schema, err)
	}
	results, err := provider.Up(ctx)
	var partial *goose.PartialError
	if errors.As(err, &partial) {
		results = partial.Applied
		err = fmt.Errorf("step %s: %w", s.step(partial.Failed.Source.Version).name, partial.Err)
	}
	if err != nil {
		err = fmt.Errorf("migrations: schema %q: %w", schema, err)
	}
	// What was taken is worth knowing also when ctx has ended, but no long wait.
	looking, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	steps, statusErr := s.taken(looking, db, schema, results)
	return steps, errors.Join(err, statusErr)
}

// provider returns goose with the set's steps. They are given as Go functions:
// goose splits SQL files at semicolons that end a line, and a schema's name can
// hold such a line.
func (s *set) provider(db *sql.DB, schema string) (*goose.Provider, error) {
	var list []*goose.Migration
	for _, st := range s.steps {
		run := func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, st.in(schema)) // no arguments: several statements at once
			return err
		}
		list = append(list, goose.NewGoMigration(st.version, &goose.GoFunc{RunTx: run}, nil))
	}
	return goose.NewProvider(goose.DialectCustom, db, nil,
		goose.WithStore(store{schema: schema, table: s.versionTable}),
		goose.WithGoMigrations(list...),
		goose.WithDisableGlobalRegistry(true), // the host's own
		goose.WithLogger(goose.NopLogger()),
	)
}

// taken returns the steps of goose's results as Status would.
func (s *set) taken(ctx context.Context, db *sql.DB, schema string, results []*goose.MigrationResult) ([]Step, error) {
	if len(results) == 0 {
		return nil, nil
	}
	all, err := s.status(ctx, db, schema)
	if err != nil {
		return nil, err
	}
	var steps []Step
	for _, result := range results {
		for _, st := range all {
			if st.Version == result.Source.Version {
				steps = append(steps, st)
			}
		}
	}
	return steps, nil
}
