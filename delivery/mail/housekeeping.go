package mail

import (
	"context"

	"github.com/buzon-go/buzon/internal/timing"
)

// Housekeeping deletes the deliveries that are older than the configured
// retention, in small batches. Without a retention it does nothing. It is for
// delivery.RunnerConfig.Housekeeping.
func (m *Mailer) Housekeeping(ctx context.Context) error {
	if m.config.Retention == 0 {
		return nil
	}
	for _, statement := range []string{m.store.sql.deleteSent, m.store.sql.deleteFailed} {
		err := timing.InBatches(ctx, func(ctx context.Context) (int64, error) {
			tag, err := m.pool.Exec(ctx, statement, m.config.Retention.Microseconds())
			return tag.RowsAffected(), err
		})
		if err != nil {
			return m.store.explain("delete old deliveries", err)
		}
	}
	return nil
}
