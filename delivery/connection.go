package delivery

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/internal/timing"
)

// connect opens a connection as the pool does, without taking one of its own.
func connect(ctx context.Context, pool *pgxpool.Pool) (conn *pgx.Conn, err error) {
	config := pool.Config()
	if config.BeforeConnect != nil {
		if err := config.BeforeConnect(ctx, config.ConnConfig); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}

// closeTimeout bounds the goodbye on a connection.
const closeTimeout = time.Second

func closeConnection(ctx context.Context, conn *pgx.Conn) {
	_ = timing.Within(context.WithoutCancel(ctx), closeTimeout, conn.Close) // it is gone either way
}

// reserve is a connection beside the pool's, opened when it is first needed:
// the pool is the host's, and may be exhausted by the very handlers whose
// leases are to be renewed. It belongs to one goroutine.
type reserve struct {
	pool *pgxpool.Pool
	conn *pgx.Conn
}

// use calls f with the connection. After an error the next call opens another.
func (r *reserve) use(ctx context.Context, limit time.Duration, f func(context.Context, db) error) error {
	err := timing.Within(ctx, limit, func(ctx context.Context) (err error) {
		if r.conn == nil {
			if r.conn, err = connect(ctx, r.pool); err != nil {
				return err
			}
		}
		return f(ctx, r.conn)
	})
	if err != nil {
		r.close(ctx)
	}
	return err
}

func (r *reserve) close(ctx context.Context) {
	if r.conn != nil {
		closeConnection(ctx, r.conn)
		r.conn = nil
	}
}
