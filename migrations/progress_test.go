package migrations_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
)

// TestProgressIsAddedToLivingTables upgrades a schema that only the first two
// steps have made, with jobs in it.
func TestProgressIsAddedToLivingTables(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "buzon")
	scripts, err := migrations.SQL("")
	require.NoError(t, err)
	for _, script := range scripts[:2] {
		execute(t, pool, script.SQL)
	}
	execute(t, pool, "CREATE TABLE buzon.buzon_migrations (version bigint PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now())")
	execute(t, pool, "INSERT INTO buzon.buzon_migrations (version) VALUES (1), (2)")
	execute(t, pool, `INSERT INTO buzon.outbox_jobs (job_type, payload, max_retries, unique_key) SELECT 'a', '{"n": 1}', 5, n FROM generate_series(1, 3) n`)
	execute(t, pool, `INSERT INTO buzon.outbox_job_history (id, job_type, tenant, payload, payload_version, priority, created_at, state,
		retry_count, max_retries, lease_number, lost_leases) VALUES (9, 'a', '', '{"n": 2}', 1, 2, now(), 'completed', 0, 0, 1, 0)`)
	rows := `SELECT (SELECT jsonb_agg(to_jsonb(j) - 'progress' ORDER BY id) FROM buzon.outbox_jobs j)
		|| (SELECT jsonb_agg(to_jsonb(h) - 'progress') FROM buzon.outbox_job_history h)`
	before := query[[]map[string]any](t, pool, rows)
	require.Len(t, before, 4)
	err = migrations.Check(t.Context(), pool, "")
	require.ErrorIs(t, err, migrations.ErrOutdated)
	require.ErrorContains(t, err, "it has no column outbox_jobs.progress, column outbox_job_history.progress")

	steps, err := migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
	assert.Equal(t, librarySteps[2:], stepNames(t, steps))
	require.NoError(t, migrations.Check(t.Context(), pool, ""))
	assert.Equal(t, before, query[[]map[string]any](t, pool, rows), "the jobs are as they were")
	assert.Equal(t, 0, query[int](t, pool, `SELECT (SELECT count(progress) FROM buzon.outbox_jobs)
		+ (SELECT count(progress) FROM buzon.outbox_job_history)`))
}
