package migrations_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
)

// TestCopiedSQL is a host's own tool at work: the result is the same.
func TestCopiedSQL(t *testing.T) {
	t.Parallel()
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.NewEmpty(t)
			createSchema(t, pool, name)
			require.ErrorIs(t, migrations.Check(t.Context(), pool, name), migrations.ErrOutdated)

			scripts, err := migrations.SQL(name)
			require.NoError(t, err)
			branch, err := migrations.BranchSQL(name)
			require.NoError(t, err)
			var got []string
			for _, script := range append(scripts, branch...) {
				got = append(got, script.Name)
				assert.Equal(t, script.Name[:5], fmt.Sprintf("%05d", script.Version))
				execute(t, pool, script.SQL)
			}
			assert.Equal(t, slices.Concat(librarySteps, branchSteps), got)
			require.NoError(t, migrations.Check(t.Context(), pool, name))
			require.NoError(t, migrations.CheckBranch(t.Context(), pool, name))
		})
	}
}

func TestCopiedSQLIsPlain(t *testing.T) {
	t.Parallel()
	scripts, err := migrations.SQL("")
	require.NoError(t, err)
	branch, err := migrations.BranchSQL("sucursal")
	require.NoError(t, err)
	for _, script := range append(scripts, branch...) {
		assert.NotContains(t, script.SQL, "goose")
		assert.NotContains(t, script.SQL, "{schema}")
	}
}

// TestCopiedSQLMakesTheSameTables compares what both ways leave.
func TestCopiedSQLMakesTheSameTables(t *testing.T) {
	t.Parallel()
	migrated, copied := pgtest.New(t), pgtest.NewEmpty(t)
	createSchema(t, copied, "buzon")
	scripts, err := migrations.SQL("")
	require.NoError(t, err)
	for _, script := range scripts {
		execute(t, copied, script.SQL)
	}
	assert.Equal(t, definition(t, migrated), definition(t, copied))
}

// definition describes the tables and indexes of the library's schema.
func definition(t *testing.T, pool *pgxpool.Pool) []string {
	t.Helper()
	return query[[]string](t, pool, `
		SELECT array_agg(line ORDER BY line) FROM (
			SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' ' || COALESCE(column_default, '') AS line
			FROM information_schema.columns WHERE table_schema = 'buzon' AND table_name <> 'buzon_migrations'
			UNION ALL
			SELECT indexdef FROM pg_indexes WHERE schemaname = 'buzon' AND tablename <> 'buzon_migrations'
			UNION ALL
			SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
			WHERE connamespace = 'buzon'::regnamespace AND conrelid <> COALESCE(to_regclass('buzon.buzon_migrations'), 0)
		) AS lines`)
}
