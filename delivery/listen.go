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
	var conn *pgx.Conn
	err := timing.Within(ctx, statementTimeout, func(ctx context.Context) (err error) {
		conn, err = connect(ctx, r.queue.pool)
		return err
	})
	if err != nil {
		return err
	}
	defer closeConnection(ctx, conn)
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{r.queue.store.channel}.Sanitize()); err != nil {
		return err
	}
	r.leases.look() // something may have come before LISTEN
	for {
		r.Wake()
		payload, err := awaitNotification(ctx, conn)
		if err != nil {
			return err
		}
		if payload == notifyCancel {
			r.leases.look()
		}
	}
}

// awaitNotification waits for one, and tests the connection in long silences:
// one that has lost its peer would be silent for ever.
func awaitNotification(ctx context.Context, conn *pgx.Conn) (payload string, err error) {
	for {
		waiting, cancel := context.WithTimeout(ctx, listenPing)
		notification, err := conn.WaitForNotification(waiting)
		silence := waiting.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case err == nil:
			return notification.Payload, nil
		case !silence:
			return "", err
		}
		if err := timing.Within(ctx, statementTimeout, conn.Ping); err != nil {
			return "", err
		}
	}
}
