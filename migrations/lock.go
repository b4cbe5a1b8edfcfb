package migrations

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// closeLimit bounds the goodbye to the server. The lock falls with the
// connection in any case.
const closeLimit = 5 * time.Second

// lock waits until nobody else migrates the same set of the same schema of
// the database, and returns what gives the lock back. Everybody else goes on:
// the key is made of the set and the schema, and PostgreSQL adds the database.
//
// The connection is not of the pool: with a pool of one connection, or with as
// many callers as it has connections, whoever holds the lock would wait for
// those who wait for the lock. The lock belongs to a transaction and not to the
// session, so that it also holds behind a transaction pooler.
func (s *set) lock(ctx context.Context, pool *pgxpool.Pool, schema string) (unlock func(), err error) {
	conn, err := connect(ctx, pool)
	if err != nil {
		return nil, fmt.Errorf("migrations: schema %q: lock: %w", schema, err)
	}
	unlock = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
		defer cancel()
		_ = conn.Close(ctx) // The server ends the transaction, and with it the lock.
	}
	if err := takeLock(ctx, conn, s.lockKey(schema)); err != nil {
		unlock()
		return nil, fmt.Errorf("migrations: schema %q: lock: %w", schema, err)
	}
	return unlock, nil
}

// connect opens a connection like the pool's, outside of the pool.
func connect(ctx context.Context, pool *pgxpool.Pool) (*pgx.Conn, error) {
	config := pool.Config()
	if config.BeforeConnect != nil { // such as a password that changes
		if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

// takeLock takes the lock in a transaction that it leaves open. Only ctx
// limits the wait, and nothing may end the transaction while it idles: the
// role's or the database's own time limits are for other work. Not every
// version has each of them.
func takeLock(ctx context.Context, conn *pgx.Conn, key int64) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		SELECT pg_catalog.set_config(name, '0', true) FROM pg_catalog.pg_settings
		WHERE name IN ('lock_timeout', 'statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')`)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `SELECT pg_catalog.pg_advisory_xact_lock($1::bigint)`, key)
	return err
}

func (s *set) lockKey(schema string) int64 {
	sum := sha256.Sum256([]byte("buzon migrations\x00" + s.kind + "\x00" + schema))
	return int64(binary.BigEndian.Uint64(sum[:8])) //nolint:gosec // Any 64 bits are a key.
}
