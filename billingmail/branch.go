package billingmail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/internal/pgtext"
)

// Branches finds what belongs to a branch schema (sucursal) besides its tables.
// The host implements it. Its SMTP integration comes from the mail.Sender, which
// is given the schema as the message's tenant.
type Branches interface {
	// Branch returns a branch as it is now, or [ErrUnknownSchema].
	Branch(ctx context.Context, schema string) (Branch, error)
}

// A Branch is in whose name billing e-mails are sent.
type Branch struct {
	// Brand is its visual identity.
	Brand view.Brand
	// Language is that of its members, a BCP 47 tag such as "es-UY", for dates
	// and amounts. Empty means Spanish.
	Language string
}

// Paths finds the schemas in which a branch's tables are looked for.
type Paths interface {
	// SearchPath returns the schemas of a branch in their order: its own first,
	// then those that hold what lies at the company's or the till's level.
	// [ErrUnknownSchema] says that there is no such branch.
	SearchPath(ctx context.Context, schema string) ([]string, error)
}

// ownSchema is the default: the schema alone.
type ownSchema struct{}

func (ownSchema) SearchPath(_ context.Context, schema string) ([]string, error) {
	return []string{schema}, nil
}

// CheckSchema refuses what cannot be the name of a branch schema: nothing, more
// than 63 bytes (PostgreSQL cuts longer names without an error, so that two
// could mean one), control characters, invalid UTF-8, and PostgreSQL's own
// schemas, "pg_…" and "information_schema". Anything else may be one, quotes and
// capital letters included, since it is always quoted.
func CheckSchema(schema string) error {
	if err := pgtext.CheckName("schema", schema); err != nil {
		return fmt.Errorf("billingmail: %w", err)
	}
	for _, r := range schema {
		if r < ' ' || r == 0x7f {
			return errors.New("billingmail: schema holds a control character")
		}
	}
	if strings.HasPrefix(schema, "pg_") || schema == "information_schema" {
		return fmt.Errorf("billingmail: schema %q is PostgreSQL's own", schema)
	}
	return nil
}

// A branch is a schema as one transaction finds it.
type branch struct {
	schema string // the first of the path, where the detail table lies
	table  tableState
}

// tableState tells what a schema has of the detail table.
type tableState int

const (
	tableMissing tableState = iota
	tablePlain              // without the columns of the second migration
	tableWhole
)

// inBranch runs f in a transaction whose search path is the branch's, for that
// transaction only: it is set by a statement of its own, so that it holds behind
// a transaction pooler and leaks to nobody. f is told what the schema has.
func (s *Service) inBranch(ctx context.Context, schema string, f func(tx pgx.Tx, b branch) error) error {
	path, err := s.config.Paths.SearchPath(ctx, schema)
	if err != nil {
		return err
	}
	if len(path) == 0 || slices.ContainsFunc(path, func(name string) bool { return pgtext.CheckName("schema", name) != nil }) {
		return fmt.Errorf("billingmail: the search path of schema %q is %q", schema, path)
	}
	return s.queue.BeginFunc(ctx, func(tx pgx.Tx) error {
		if err := setSearchPath(ctx, tx, path); err != nil {
			return err
		}
		found, err := findBranch(ctx, tx, path[0])
		if err != nil {
			return err
		}
		return f(tx, found)
	})
}

func setSearchPath(ctx context.Context, tx pgx.Tx, path []string) error {
	quoted := make([]string, len(path))
	for i, schema := range path {
		quoted[i] = pgx.Identifier{schema}.Sanitize()
	}
	_, err := tx.Exec(ctx, "SET LOCAL search_path TO "+strings.Join(quoted, ", "), pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return fmt.Errorf("billingmail: set the search path: %w", err)
	}
	return nil
}

// findBranch asks the catalogue: a statement that fails would end the
// transaction.
func findBranch(ctx context.Context, tx pgx.Tx, schema string) (branch, error) {
	var exists bool
	var columns int
	err := tx.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1),
			(SELECT count(*) FILTER (WHERE a.attname IN ('job_id', 'reintentable')) + count(DISTINCT c.oid)
			FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
			WHERE n.nspname = $1 AND c.relname = $2 AND c.relkind IN ('r', 'p'))`,
		pgx.QueryExecModeExec, schema, detailTable).Scan(&exists, &columns)
	switch {
	case err != nil:
		return branch{}, fmt.Errorf("billingmail: look for schema %q: %w", schema, err)
	case !exists:
		return branch{}, fmt.Errorf("billingmail: schema %q: %w", schema, ErrUnknownSchema)
	}
	found := branch{schema: schema}
	switch columns {
	case 0:
	case 3:
		found.table = tableWhole
	default:
		found.table = tablePlain
	}
	return found, nil
}
