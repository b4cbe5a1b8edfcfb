package migrations_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// names are schemas that are not what they seem. The last has 63 bytes.
var names = []string{
	"plain",
	"Upper Case",
	`with "quotes"`,
	`"; DROP SCHEMA public; --`,
	"Sucursal Ñandú Nº 1",
	"semicolon;\n-- +goose Down\nand lines",
	"$1 %s {schema}x \\ '",
	"63 bytes 63 bytes 63 bytes 63 bytes 63 bytes 63 bytes 63 bytes ñ"[:61] + "ñ",
}

func execute(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func query[T any](t *testing.T, pool *pgxpool.Pool, sql string, args ...any) (value T) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), sql, args...).Scan(&value))
	return value
}

func createSchema(t *testing.T, pool *pgxpool.Pool, schema string) {
	t.Helper()
	execute(t, pool, "CREATE SCHEMA "+quote(schema))
}

func quote(name ...string) string { return pgx.Identifier(name).Sanitize() }

// relations returns what stands in a schema, sorted by name.
func relations(t *testing.T, pool *pgxpool.Pool, schema string) []string {
	t.Helper()
	return query[[]string](t, pool, `
		SELECT COALESCE(array_agg(c.relname::text ORDER BY c.relname), '{}')
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = $1`, schema)
}

// stepNames returns the steps' names, and fails where one has no time.
func stepNames(t *testing.T, steps []migrations.Step) []string {
	t.Helper()
	var got []string
	for _, step := range steps {
		require.False(t, step.Pending(), step.Name)
		got = append(got, step.Name)
	}
	return got
}
