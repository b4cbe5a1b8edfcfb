package migrations

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"
)

// What the tests see of the package's inside. They are outside of it, since
// pgtest imports it.

// LockLibrary and LockBranch hold the lock of a set of a schema.
func LockLibrary(ctx context.Context, pool *pgxpool.Pool, schema string) (unlock func(), err error) {
	return librarySet.lock(ctx, pool, schema)
}

func LockBranch(ctx context.Context, pool *pgxpool.Pool, schema string) (unlock func(), err error) {
	return branchSet.lock(ctx, pool, schema)
}

// A RequiredTable is what Check asks for.
type RequiredTable struct {
	Name            string
	Columns, Unique []string
}

func RequiredTables() []RequiredTable {
	var all []RequiredTable
	for _, s := range []*set{librarySet, branchSet} {
		for _, t := range s.required {
			all = append(all, RequiredTable{Name: t.name, Columns: t.columns, Unique: t.unique})
		}
	}
	return all
}
