package migrations_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
)

func TestCheckNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ change, missing string }{
		{"DROP TABLE buzon.email_deliveries", "it has no table email_deliveries"},
		{"ALTER TABLE buzon.outbox_jobs DROP COLUMN lost_leases", "it has no column outbox_jobs.lost_leases"},
		{"ALTER TABLE buzon.outbox_jobs RENAME COLUMN tenant TO company", "it has no column outbox_jobs.tenant"},
		{"DROP INDEX buzon.email_deliveries_key", "it has no unique index email_deliveries_key"},
		{"DROP INDEX buzon.email_deliveries_key; CREATE INDEX email_deliveries_key ON buzon.email_deliveries (tenant)", "it has no unique index email_deliveries_key"},
		{"ALTER TABLE buzon.outbox_jobs RENAME TO t; CREATE VIEW buzon.outbox_jobs AS SELECT * FROM buzon.t", "it has no table outbox_jobs"},
		{"DROP TABLE buzon.outbox_jobs, buzon.outbox_job_history", "it has no table outbox_jobs, table outbox_job_history"},
	} {
		t.Run(c.change, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			require.NoError(t, migrations.Check(t.Context(), pool, ""))
			execute(t, pool, c.change)
			err := migrations.Check(t.Context(), pool, "")
			require.ErrorIs(t, err, migrations.ErrOutdated)
			assert.ErrorContains(t, err, c.missing)
		})
	}
}

func TestCheckWithoutSchema(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	err := migrations.Check(t.Context(), pool, "Buzón")
	require.ErrorIs(t, err, migrations.ErrNoSchema)
	assert.ErrorContains(t, err, `"Buzón"`)
	require.ErrorIs(t, migrations.CheckBranch(t.Context(), pool, "sucursal"), migrations.ErrNoSchema)
}

// TestCheckBranchOfAnOlderHost has the table as the contract's first version
// defines it.
func TestCheckBranchOfAnOlderHost(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "sucursal")
	scripts, err := migrations.BranchSQL("sucursal")
	require.NoError(t, err)
	execute(t, pool, scripts[0].SQL)

	err = migrations.CheckBranch(t.Context(), pool, "sucursal")
	require.ErrorIs(t, err, migrations.ErrOutdated)
	assert.ErrorContains(t, err, "it has no column membresia_facturacion_email_detalle.job_id, column membresia_facturacion_email_detalle.reintentable")
}

// TestCheckTakesWhatRunsQueries asks in a transaction and on a connection.
func TestCheckTakesWhatRunsQueries(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		require.NoError(t, migrations.Check(t.Context(), tx.Conn(), ""))
		return migrations.Check(t.Context(), tx, "")
	}))
}

// TestRequiredIsWhatTheStepsMake keeps the list of Check and the SQL together.
func TestRequiredIsWhatTheStepsMake(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	_, err := migrations.Up(t.Context(), pool, "s")
	require.NoError(t, err)
	_, err = migrations.UpBranch(t.Context(), pool, "s")
	require.NoError(t, err)

	var tables []string
	for _, required := range migrations.RequiredTables() {
		tables = append(tables, required.Name)
		assert.Equal(t, required.Columns, query[[]string](t, pool, `
			SELECT array_agg(attname::text ORDER BY attnum) FROM pg_attribute
			WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`, "s."+required.Name), required.Name)
		assert.ElementsMatch(t, required.Unique, query[[]string](t, pool, `
			SELECT array_agg(c.relname::text) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			WHERE i.indrelid = $1::regclass AND i.indisunique`, "s."+required.Name), required.Name)
	}
	assert.ElementsMatch(t, append(tables, "buzon_migrations", "buzon_branch_migrations"), query[[]string](t, pool,
		"SELECT array_agg(relname::text) FROM pg_class WHERE relnamespace = 's'::regnamespace AND relkind = 'r'"))
}
