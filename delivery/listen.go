package delivery

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/internal/timing"
)

// Pauses of the listening connection.
const (
	listenPing  = 30 * time.Second // silence after which it is tested
	listenRetry = time.Second      // before it is opened again
)

// listen hears of other processes' jobs and of cancellations, on a connection
// of its own, until ctx ends. A NOTIFY is a hint: what is missed is found by
// the next poll or renewal.
func (r *Runner) listen(ctx context.Context) {
	for {
		err := r.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		r.log.Warn("buzon: the listening connection ended; jobs of other processes are found by polling meanwhile", logError, err)
		if !timing.Pause(ctx, listenRetry) {
			return
		}
	}
}

func (r *Runner) listenOnce(ctx context.Context) error {
	conn, err := r.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = timing.Within(context.WithoutCancel(ctx), time.Second, conn.Close) }()
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{r.queue.store.channel}.Sanitize()); err != nil {
		return err
	}
	for {
		r.wake() // also right after LISTEN: something may have come before it
		r.leases.look()
		if err := awaitNotification(ctx, conn); err != nil {
			return err
		}
	}
}

// connect opens a connection as the pool does, without taking one of its own.
func (r *Runner) connect(ctx context.Context) (conn *pgx.Conn, err error) {
	pool := r.queue.pool.Config()
	config := pool.ConnConfig
	err = timing.Within(ctx, statementTimeout, func(ctx context.Context) error {
		if pool.BeforeConnect != nil {
			if err := pool.BeforeConnect(ctx, config); err != nil {
				return err
			}
		}
		conn, err = pgx.ConnectConfig(ctx, config)
		return err
	})
	return conn, err
}

// awaitNotification waits for one, and tests the connection in long silences:
// one that has lost its peer would be silent for ever.
func awaitNotification(ctx context.Context, conn *pgx.Conn) error {
	for {
		waiting, cancel := context.WithTimeout(ctx, listenPing)
		_, err := conn.WaitForNotification(waiting)
		silence := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		if err == nil || !silence {
			return err
		}
		if err := timing.Within(ctx, statementTimeout, conn.Ping); err != nil {
			return err
		}
	}
}
