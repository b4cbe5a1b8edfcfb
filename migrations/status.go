package migrations

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3/database"
)

// A Step is one step of a schema's migration.
type Step struct {
	Version   int64     // from 1
	Name      string    // such as "00001_outbox_jobs"
	AppliedAt time.Time // by the database's clock; zero while the step is pending
}

// Pending reports whether the step has not been taken.
func (s Step) Pending() bool { return s.AppliedAt.IsZero() }

// Status returns all steps of the library's schema, in order. An empty name
// means [DefaultSchema]. It knows what [Up] did, and changes nothing: where the
// schema is missing, and where it was made by copied SQL, all steps are
// pending. [Check] tells what such a schema has.
func Status(ctx context.Context, pool *pgxpool.Pool, schema string) ([]Step, error) {
	schema, err := librarySchema(schema)
	if err != nil {
		return nil, err
	}
	return librarySet.poolStatus(ctx, pool, schema)
}

// BranchStatus is [Status] for what [UpBranch] did in a branch's schema.
func BranchStatus(ctx context.Context, pool *pgxpool.Pool, schema string) ([]Step, error) {
	if err := CheckSchemaName(schema); err != nil {
		return nil, err
	}
	return branchSet.poolStatus(ctx, pool, schema)
}

func (s *set) poolStatus(ctx context.Context, pool *pgxpool.Pool, schema string) ([]Step, error) {
	db := stdlib.OpenDBFromPool(pool)
	defer db.Close()
	return s.status(ctx, db, schema)
}

func (s *set) status(ctx context.Context, db database.DBTxConn, schema string) ([]Step, error) {
	applied, err := s.applied(ctx, db, schema)
	if err != nil {
		return nil, fmt.Errorf("migrations: schema %q: status: %w", schema, err)
	}
	var steps []Step
	for _, st := range s.steps {
		step := Step{Version: st.version, Name: st.name}
		for _, a := range applied {
			if a.version == st.version {
				step.AppliedAt = a.at
			}
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// applied returns the steps on record, none where there is no record.
func (s *set) applied(ctx context.Context, db database.DBTxConn, schema string) ([]appliedStep, error) {
	record := store{schema: schema, table: s.versionTable}
	exists, err := record.TableExists(ctx, db)
	if err != nil || !exists {
		return nil, err
	}
	return record.applied(ctx, db)
}
