package host

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/notify"
)

// Pay marks a purchase as paid, issues its tickets, and publishes that it was
// paid, all in one transaction. The e-mail goes out after the delay: until then,
// annulling the purchase keeps it from being sent. A purchase that cannot be
// paid, or does not exist, is [ErrNotPayable].
func (h *Host) Pay(ctx context.Context, purchaseID int64, delay time.Duration) error {
	err := delivery.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		paid, err := markPaid(ctx, tx, purchaseID)
		if err != nil {
			return err
		}
		if err := issueTickets(ctx, tx, purchaseID, paid); err != nil {
			return err
		}
		event := notify.PurchasePaid{TenantCode: paid.tenantCode, PurchaseID: formatID(purchaseID)}
		_, err = h.outbox.PublishJob(ctx, tx, event, publishAfter(delay))
		return err
	})
	if err != nil {
		return fmt.Errorf("host: pay purchase %d: %w", purchaseID, err)
	}
	return nil
}

// A payment is what is needed to go on when a purchase was paid.
type payment struct {
	tenantCode  string
	eventDateID int64
	seats       int // bought
	seatsTaken  int // of the date, before
}

// markPaid locks the date before the purchase, as all do that change both, so
// that two of them cannot wait for each other.
func markPaid(ctx context.Context, tx pgx.Tx, purchaseID int64) (payment, error) {
	var p payment
	err := tx.QueryRow(ctx, `
		SELECT e.tenant_code, d.id, d.seats_taken
		FROM sample_host.purchases p
		JOIN sample_host.event_dates d ON d.id = p.event_date_id
		JOIN sample_host.events e ON e.code = d.event_code
		WHERE p.id = $1 AND d.state = 'scheduled'
		FOR UPDATE OF d`, purchaseID).Scan(&p.tenantCode, &p.eventDateID, &p.seatsTaken)
	if err == nil {
		err = tx.QueryRow(ctx, `
			UPDATE sample_host.purchases SET state = 'paid', paid_at = now()
			WHERE id = $1 AND event_date_id = $2 AND state = 'pending'
			RETURNING seats`, purchaseID, p.eventDateID).Scan(&p.seats)
	}
	if isMissing(err) {
		err = ErrNotPayable
	}
	return p, err
}
