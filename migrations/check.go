package migrations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// What [Check] finds. Both can be told apart from a database that cannot be
// reached, which is neither.
var (
	// ErrNoSchema: there is no schema of that name in the database.
	ErrNoSchema = errors.New("there is no such schema")
	// ErrOutdated: the schema lacks something that this library needs. The
	// error names it.
	ErrOutdated = errors.New("the schema is not at the version that this library needs")
)

// A Querier runs a query: a *pgxpool.Pool, a *pgx.Conn or a pgx.Tx.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// Check reports whether the library's schema has the tables, columns and
// unique indexes that this library needs, whoever made them; more of them do
// no harm. An empty name means [DefaultSchema]. It is one query of the
// catalogue, cheap enough for a readiness check. The error is [ErrNoSchema],
// [ErrOutdated], or the query's.
func Check(ctx context.Context, db Querier, schema string) error {
	schema, err := librarySchema(schema)
	if err != nil {
		return err
	}
	return librarySet.check(ctx, db, schema)
}

// CheckBranch is [Check] for the tables of a branch's schema. Billing e-mails
// are sent without them too, but not tracked.
func CheckBranch(ctx context.Context, db Querier, schema string) error {
	if err := CheckSchemaName(schema); err != nil {
		return err
	}
	return branchSet.check(ctx, db, schema)
}

func (s *set) check(ctx context.Context, db Querier, schema string) error {
	has, err := s.inventory(ctx, db, schema)
	if err != nil {
		return fmt.Errorf("migrations: schema %q: check: %w", schema, err)
	}
	if !has["schema"] {
		return fmt.Errorf("migrations: schema %q: %w", schema, ErrNoSchema)
	}
	var missing []string
	for _, t := range s.required {
		missing = append(missing, t.missing(has)...)
	}
	if len(missing) > 0 {
		return fmt.Errorf("migrations: schema %q: %w: it has no %s", schema, ErrOutdated, strings.Join(missing, ", "))
	}
	return nil
}

// missing returns what the table lacks. Of a table that is not there, that is
// all there is to say.
func (t table) missing(has map[string]bool) []string {
	if !has["table "+t.name] {
		return []string{"table " + t.name}
	}
	var missing []string
	for _, column := range t.columns {
		if name := "column " + t.name + "." + column; !has[name] {
			missing = append(missing, name)
		}
	}
	for _, index := range t.unique {
		if name := "unique index " + index; !has[name] {
			missing = append(missing, name)
		}
	}
	return missing
}

// inventory returns what the schema has of the set's tables, as the words in
// which it would be missed.
func (s *set) inventory(ctx context.Context, db Querier, schema string) (map[string]bool, error) {
	rows, err := db.Query(ctx, `
		WITH tables AS (
			SELECT c.oid, c.relname
			FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = $1::text AND c.relkind IN ('r', 'p') AND c.relname = ANY (string_to_array($2::text, ','))
		)
		SELECT 'schema' FROM pg_catalog.pg_namespace WHERE nspname = $1::text
		UNION ALL
		SELECT 'table ' || relname FROM tables
		UNION ALL
		SELECT 'column ' || t.relname || '.' || a.attname
		FROM tables t
		JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid
		WHERE a.attnum > 0 AND NOT a.attisdropped
		UNION ALL
		SELECT 'unique index ' || c.relname
		FROM tables t
		JOIN pg_catalog.pg_index i ON i.indrelid = t.oid
		JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
		WHERE i.indisunique AND i.indisvalid`,
		schema, strings.Join(s.tableNames(), ","))
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	has := make(map[string]bool, len(names))
	for _, name := range names {
		has[name] = true
	}
	return has, nil
}
