package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/pressly/goose/v3/database"
)

// A store keeps the steps that were taken, in the schema to which they belong.
// Goose's own store for PostgreSQL cannot quote names.
type store struct {
	schema string
	table  string
}

var _ database.StoreExtender = store{}

// Tablename implements database.Store.
func (s store) Tablename() string { return qualified(s.schema, s.table) }

// TableExists implements database.StoreExtender.
func (s store) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	return tableExists(ctx, db, s.schema, s.table)
}

// CreateVersionTable implements database.Store.
func (s store) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf(`
		CREATE TABLE %s (
			version    bigint      PRIMARY KEY,
			applied_at timestamptz NOT NULL DEFAULT now()
		)`, s.Tablename()))
	return err
}

// Insert implements database.Store. Goose notes a version 0 in a new table,
// which is no step; it is not stored.
func (s store) Insert(ctx context.Context, db database.DBTxConn, req database.InsertRequest) error {
	if req.Version == 0 {
		return nil
	}
	_, err := db.ExecContext(ctx, fmt.Sprintf(`INSERT INTO %s (version) VALUES ($1::bigint)`, s.Tablename()), req.Version)
	return err
}

// Delete implements database.Store.
func (s store) Delete(ctx context.Context, db database.DBTxConn, version int64) error {
	_, err := db.ExecContext(ctx, fmt.Sprintf(`DELETE FROM %s WHERE version = $1::bigint`, s.Tablename()), version)
	return err
}

// GetMigration implements database.Store.
func (s store) GetMigration(ctx context.Context, db database.DBTxConn, version int64) (*database.GetMigrationResult, error) {
	result := &database.GetMigrationResult{IsApplied: true}
	err := db.QueryRowContext(ctx, fmt.Sprintf(`SELECT applied_at FROM %s WHERE version = $1::bigint`, s.Tablename()), version).
		Scan(&result.Timestamp)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: %d", database.ErrVersionNotFound, version)
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

// GetLatestVersion implements database.Store. A table without rows is at
// version 0.
func (s store) GetLatestVersion(ctx context.Context, db database.DBTxConn) (version int64, err error) {
	err = db.QueryRowContext(ctx, fmt.Sprintf(`SELECT COALESCE(max(version), 0) FROM %s`, s.Tablename())).Scan(&version)
	return version, err
}

// ListMigrations implements database.Store: the newest first, and at the end
// the version 0 that goose wants to see.
func (s store) ListMigrations(ctx context.Context, db database.DBTxConn) ([]*database.ListMigrationsResult, error) {
	times, err := s.applied(ctx, db)
	if err != nil {
		return nil, err
	}
	var list []*database.ListMigrationsResult
	for _, t := range times {
		list = append(list, &database.ListMigrationsResult{Version: t.version, IsApplied: true})
	}
	return append(list, &database.ListMigrationsResult{Version: 0, IsApplied: true}), nil
}

type appliedStep struct {
	version int64
	at      time.Time
}

// applied returns the steps that were taken, the newest first.
func (s store) applied(ctx context.Context, db database.DBTxConn) ([]appliedStep, error) {
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`SELECT version, applied_at FROM %s ORDER BY version DESC`, s.Tablename()))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []appliedStep
	for rows.Next() {
		var a appliedStep
		if err := rows.Scan(&a.version, &a.at); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, rows.Err()
}
