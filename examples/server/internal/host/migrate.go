package host

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed schema.sql
var schema string

// lockKey is any number that nobody else in the database uses for a lock.
const lockKey = 7_204_113_946

// Migrate creates the host's tables and tenants where they are missing. Hosts
// that start at the same time wait for each other: IF NOT EXISTS alone fails
// when two run it at once.
func (h *Host) Migrate(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, lockKey); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, schema) // no arguments: several statements at once
		return err
	})
	if err != nil {
		return fmt.Errorf("host: migrate: %w", err)
	}
	return nil
}
