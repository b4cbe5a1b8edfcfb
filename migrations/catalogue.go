package migrations

import (
	"context"

	"github.com/pressly/goose/v3/database"
)

// These ask the catalogue by the schema's name, and so mean the same under any
// search path.

func schemaExists(ctx context.Context, db database.DBTxConn, schema string) (exists bool, err error) {
	err = db.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1::text)`, schema).Scan(&exists)
	return exists, err
}

func tableExists(ctx context.Context, db database.DBTxConn, schema, table string) (exists bool, err error) {
	err = db.QueryRowContext(ctx, `
		SELECT EXISTS (
			SELECT FROM pg_catalog.pg_class c
			JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = $1::text AND c.relname = $2::text AND c.relkind IN ('r', 'p')
		)`, schema, table).Scan(&exists)
	return exists, err
}
