package migrations_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
)

var (
	librarySteps = []string{"00001_outbox_jobs", "00002_email_deliveries", "00003_outbox_job_progress"}
	branchSteps  = []string{"00001_email_detalle", "00002_email_detalle_job"}
)

func TestUp(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)

	steps, err := migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
	assert.Equal(t, librarySteps, stepNames(t, steps))
	assert.Subset(t, relations(t, pool, "buzon"), []string{"outbox_jobs", "outbox_job_history", "email_deliveries", "buzon_migrations"})
	require.NoError(t, migrations.Check(t.Context(), pool, ""))

	again, err := migrations.Up(t.Context(), pool, migrations.DefaultSchema)
	require.NoError(t, err)
	assert.Empty(t, again)
}

func TestUpBranch(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "sucursal")

	steps, err := migrations.UpBranch(t.Context(), pool, "sucursal")
	require.NoError(t, err)
	assert.Equal(t, branchSteps, stepNames(t, steps))
	require.NoError(t, migrations.CheckBranch(t.Context(), pool, "sucursal"))

	again, err := migrations.UpBranch(t.Context(), pool, "sucursal")
	require.NoError(t, err)
	assert.Empty(t, again)
}

func TestUpBranchNeverCreatesASchema(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "sucursal")

	_, err := migrations.UpBranch(t.Context(), pool, "Sucursal")
	require.ErrorIs(t, err, migrations.ErrNoSchema)
	require.ErrorContains(t, err, `"Sucursal"`)
	assert.False(t, query[bool](t, pool, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'Sucursal')"))
}

func TestBothSetsInOneSchema(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	_, err := migrations.Up(t.Context(), pool, "all in one")
	require.NoError(t, err)
	steps, err := migrations.UpBranch(t.Context(), pool, "all in one")
	require.NoError(t, err)
	assert.Equal(t, branchSteps, stepNames(t, steps))
}

func TestNamesAreIdentifiers(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	require.Len(t, names[len(names)-1], 63)
	for _, name := range names {
		steps, err := migrations.Up(t.Context(), pool, name)
		require.NoError(t, err, name)
		require.Equal(t, librarySteps, stepNames(t, steps))
		require.NoError(t, migrations.Check(t.Context(), pool, name))

		steps, err = migrations.UpBranch(t.Context(), pool, name)
		require.NoError(t, err, name)
		require.Equal(t, branchSteps, stepNames(t, steps))
		require.NoError(t, migrations.CheckBranch(t.Context(), pool, name))
	}
	assert.True(t, query[bool](t, pool, "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'public')"))
	assert.Equal(t, len(names), query[int](t, pool, "SELECT count(*) FROM pg_class WHERE relname = 'outbox_jobs' AND relkind = 'r'"))
}

func TestNamesThatAreRefused(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	for name, text := range map[string]string{
		strings.Repeat("a", 64): "at most 63",
		"a\x00b":                "NUL",
		"a\xffb":                "UTF-8",
	} {
		_, err := migrations.Up(t.Context(), pool, name)
		require.ErrorContains(t, err, text)
		_, err = migrations.UpBranch(t.Context(), pool, name)
		require.ErrorContains(t, err, text)
		_, err = migrations.Status(t.Context(), pool, name)
		require.ErrorContains(t, err, text)
		_, err = migrations.BranchStatus(t.Context(), pool, name)
		require.ErrorContains(t, err, text)
		_, err = migrations.SQL(name)
		require.ErrorContains(t, err, text)
		_, err = migrations.BranchSQL(name)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, migrations.Check(t.Context(), pool, name), text)
		require.ErrorContains(t, migrations.CheckBranch(t.Context(), pool, name), text)
	}
	_, err := migrations.UpBranch(t.Context(), pool, "")
	require.ErrorContains(t, err, "empty", "a branch has no default")
}

// TestFailedStep has something in the way of the second step.
func TestFailedStep(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "buzon")
	execute(t, pool, "CREATE TABLE buzon.email_deliveries_sent_at ()") // where the step's last statement wants an index

	steps, err := migrations.Up(t.Context(), pool, "")
	require.ErrorContains(t, err, "step 00002_email_deliveries")
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "42P07", refused.Code, "duplicate_table")
	assert.Equal(t, librarySteps[:1], stepNames(t, steps), "what was done is told with the error")
	assert.NotContains(t, relations(t, pool, "buzon"), "email_deliveries", "half a step")
	require.ErrorIs(t, migrations.Check(t.Context(), pool, ""), migrations.ErrOutdated)

	execute(t, pool, "DROP TABLE buzon.email_deliveries_sent_at")
	steps, err = migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
	assert.Equal(t, librarySteps[1:], stepNames(t, steps))
}

func TestFailedFirstStep(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "buzon")
	execute(t, pool, "CREATE TABLE buzon.outbox_job_history_finished_at ()")

	steps, err := migrations.Up(t.Context(), pool, "")
	require.ErrorContains(t, err, "step 00001_outbox_jobs")
	assert.Empty(t, steps)
	assert.Equal(t, []string{"buzon_migrations", "buzon_migrations_pkey", "outbox_job_history_finished_at"}, relations(t, pool, "buzon"))

	execute(t, pool, "DROP TABLE buzon.outbox_job_history_finished_at")
	_, err = migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
}

// TestUpAfterCopiedSQL must not guess how far the host's own tool has come.
func TestUpAfterCopiedSQL(t *testing.T) {
	t.Parallel()
	for steps := 1; steps <= len(librarySteps); steps++ {
		pool := pgtest.NewEmpty(t)
		scripts, err := migrations.SQL("")
		require.NoError(t, err)
		createSchema(t, pool, "buzon")
		for _, script := range scripts[:steps] {
			execute(t, pool, script.SQL)
		}
		before := relations(t, pool, "buzon")

		applied, err := migrations.Up(t.Context(), pool, "")
		require.ErrorIs(t, err, migrations.ErrNotTracked)
		require.ErrorContains(t, err, "outbox_jobs")
		assert.Empty(t, applied)
		assert.Equal(t, before, relations(t, pool, "buzon"), "nothing was touched")
	}
}

func TestUpBranchOnAHostsOwnTable(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "sucursal")
	execute(t, pool, "CREATE TABLE sucursal.membresia_facturacion_email_detalle (id integer)")

	_, err := migrations.UpBranch(t.Context(), pool, "sucursal")
	require.ErrorIs(t, err, migrations.ErrNotTracked)
	assert.Equal(t, []string{"membresia_facturacion_email_detalle"}, relations(t, pool, "sucursal"))
}

// TestNewerSchema is a rolling deployment: another host runs a newer library.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	execute(t, pool, "INSERT INTO buzon.buzon_migrations (version) VALUES (99)")
	execute(t, pool, "ALTER TABLE buzon.outbox_jobs ADD COLUMN newer integer")

	steps, err := migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
	assert.Empty(t, steps)
	require.NoError(t, migrations.Check(t.Context(), pool, ""))
}

// TestForeignSearchPath has other tables of the same names in the way of
// whoever forgets to say which schema is meant.
func TestForeignSearchPath(t *testing.T) {
	t.Parallel()
	plain := pgtest.NewEmpty(t)
	createSchema(t, plain, "decoy")
	createSchema(t, plain, "sucursal")
	_, err := migrations.Up(t.Context(), plain, "decoy")
	require.NoError(t, err)
	_, err = migrations.UpBranch(t.Context(), plain, "decoy")
	require.NoError(t, err)
	pool := pgtest.Connect(t, pgtest.URL(plain), func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["search_path"] = "decoy"
	})

	require.ErrorIs(t, migrations.Check(t.Context(), pool, ""), migrations.ErrNoSchema)
	require.ErrorIs(t, migrations.CheckBranch(t.Context(), pool, "sucursal"), migrations.ErrOutdated)
	steps, err := migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
	assert.Equal(t, librarySteps, stepNames(t, steps))
	steps, err = migrations.UpBranch(t.Context(), pool, "sucursal")
	require.NoError(t, err)
	assert.Equal(t, branchSteps, stepNames(t, steps))
	assert.Equal(t, "decoy", query[string](t, pool, "SHOW search_path"), "the session is as it was")
}

// TestExecModes are those behind a connection pooler such as PgBouncer.
func TestExecModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
		pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			pool := pgtest.NewEmpty(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
			name := `L'été "1"`
			steps, err := migrations.Up(t.Context(), pool, name)
			require.NoError(t, err)
			assert.Equal(t, librarySteps, stepNames(t, steps))
			steps, err = migrations.UpBranch(t.Context(), pool, name)
			require.NoError(t, err)
			assert.Equal(t, branchSteps, stepNames(t, steps))
			steps, err = migrations.Status(t.Context(), pool, name)
			require.NoError(t, err)
			assert.Equal(t, librarySteps, stepNames(t, steps))
			require.NoError(t, migrations.Check(t.Context(), pool, name))
			require.NoError(t, migrations.CheckBranch(t.Context(), pool, name))
		})
	}
}

// TestRights has a role that may use the schema and nothing more.
func TestRights(t *testing.T) {
	t.Parallel()
	admin := pgtest.NewEmpty(t)
	role := "host " + query[string](t, admin, "SELECT current_database()") // roles are the whole server's
	execute(t, admin, "CREATE ROLE "+quote(role))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, err := admin.Exec(ctx, "DROP OWNED BY "+quote(role))
		require.NoError(t, err)
		_, err = admin.Exec(ctx, "DROP ROLE "+quote(role))
		require.NoError(t, err)
	})
	pool := pgtest.Connect(t, pgtest.URL(admin), func(c *pgxpool.Config) {
		c.ConnConfig.RuntimeParams["role"] = role
	})

	_, err := migrations.Up(t.Context(), pool, "")
	var refused *pgconn.PgError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "42501", refused.Code, "insufficient_privilege")

	_, err = migrations.Up(t.Context(), admin, "")
	require.NoError(t, err)
	require.NoError(t, migrations.Check(t.Context(), pool, ""), "Check needs no rights")
	execute(t, admin, "GRANT USAGE ON SCHEMA buzon TO "+quote(role))
	execute(t, admin, "GRANT SELECT ON buzon.buzon_migrations TO "+quote(role))
	steps, err := migrations.Up(t.Context(), pool, "")
	require.NoError(t, err, "nothing is pending")
	assert.Empty(t, steps)
}

func TestDatabaseThatCannotBeReached(t *testing.T) {
	t.Parallel()
	server := pgtest.NewServer(t)
	pool := server.NewEmpty(t)
	require.NoError(t, server.Halt(t.Context()))

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := migrations.Up(ctx, pool, "")
	require.Error(t, err)
	_, err = migrations.Status(ctx, pool, "")
	require.Error(t, err)
	err = migrations.Check(ctx, pool, "")
	require.Error(t, err)
	assert.NotErrorIs(t, err, migrations.ErrNoSchema)
	assert.NotErrorIs(t, err, migrations.ErrOutdated)
}
