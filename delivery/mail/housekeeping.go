package mail

import (
	"context"
	"time"

	"github.com/buzon-go/buzon/internal/timing"
)

const (
	deleteBatch = 1000
	deletePause = 50 * time.Millisecond // between two batches, for the jobs' sake
)

// Housekeeping deletes the deliveries that are older than the configured
// retention, in small batches. Without a retention it does nothing. It is for
// delivery.RunnerConfig.Housekeeping.
func (m *Mailer) Housekeeping(ctx context.Context) error {
	if m.config.Retention == 0 {
		return nil
	}
	for _, statement := range []string{m.store.sql.deleteSent, m.store.sql.deleteFailed} {
		for {
			tag, err := m.pool.Exec(ctx, statement, m.config.Retention.Microseconds(), deleteBatch)
			if err != nil {
				return m.store.explain("delete old deliveries", err)
			}
			if tag.RowsAffected() < deleteBatch {
				break
			}
			if !timing.Pause(ctx, deletePause) {
				return ctx.Err()
			}
		}
	}
	return nil
}
