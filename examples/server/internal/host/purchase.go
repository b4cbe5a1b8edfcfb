package host

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
)

// MaxSeats is how many tickets a purchase has at most.
const MaxSeats = 6

// A NewPurchase is what somebody wants to buy: a programme, and tickets.
type NewPurchase struct {
	UserID      int64
	EventDateID int64
	Seats       int // 0 to MaxSeats
}

// Buy creates a purchase that is to be paid. Nobody is written to about it. A
// date that the user cannot buy for is [ErrNotForSale].
func (h *Host) Buy(ctx context.Context, purchase NewPurchase) error {
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		id, err := insertPurchase(ctx, tx, purchase)
		if err != nil {
			return err
		}
		return insertItems(ctx, tx, id)
	})
	if err != nil {
		return fmt.Errorf("host: buy: %w", err)
	}
	return nil
}

// insertPurchase holds on to the date, so that it cannot be moved meanwhile.
func insertPurchase(ctx context.Context, tx pgx.Tx, purchase NewPurchase) (id int64, err error) {
	err = tx.QueryRow(ctx, `
		INSERT INTO sample_host.purchases (user_id, event_date_id, seats, total, currency)
		SELECT u.id, d.id, $3::integer, $3::integer * e.ticket_price + e.programme_price, e.currency
		FROM sample_host.users u
		JOIN sample_host.events e ON e.tenant_code = u.tenant_code
		JOIN sample_host.event_dates d ON d.event_code = e.code
		WHERE u.id = $1 AND d.id = $2 AND d.state = 'scheduled'
		FOR SHARE OF d
		RETURNING id`, purchase.UserID, purchase.EventDateID, purchase.Seats).Scan(&id)
	if isMissing(err) {
		err = ErrNotForSale
	}
	return id, err
}

func insertItems(ctx context.Context, tx pgx.Tx, purchaseID int64) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO sample_host.purchase_items (purchase_id, position, description, quantity, amount)
		SELECT p.id, item.*
		FROM sample_host.purchases p
		JOIN sample_host.event_dates d ON d.id = p.event_date_id
		JOIN sample_host.events e ON e.code = d.event_code
		CROSS JOIN LATERAL (VALUES
			(1, e.ticket_kind, p.seats, p.seats * e.ticket_price),
			(2, 'Programa impreso', 1, e.programme_price)
		) item (position, description, quantity, amount)
		WHERE p.id = $1 AND item.quantity > 0`, purchaseID)
	return err
}

// Annul cancels a purchase, paid or not. A confirmation that was not sent yet is
// not sent any more: the listener looks before it sends. A purchase that was
// annulled before, or does not exist, is [ErrAnnulled].
func (h *Host) Annul(ctx context.Context, purchaseID int64) error {
	tag, err := h.pool.Exec(ctx, `UPDATE sample_host.purchases SET state = 'cancelled' WHERE id = $1 AND state <> 'cancelled'`, purchaseID)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrAnnulled
	}
	if err != nil {
		return fmt.Errorf("host: annul purchase %d: %w", purchaseID, err)
	}
	return nil
}

// Purchase implements notify.Purchases.
func (h *Host) Purchase(ctx context.Context, tenantCode, purchaseID string) (notify.Purchase, error) {
	id, err := parseID(purchaseID)
	if err != nil {
		return notify.Purchase{}, err
	}
	purchase := notify.Purchase{URL: h.url + "compras#compra-" + purchaseID}
	var paidAt *time.Time
	err = h.pool.QueryRow(ctx, `
		SELECT p.number, u.name, u.email, u.language, p.total, p.currency, p.paid_at, p.state = 'cancelled'
		FROM sample_host.purchases p
		JOIN sample_host.users u ON u.id = p.user_id
		WHERE p.id = $1 AND u.tenant_code = $2`, id, tenantCode).
		Scan(&purchase.Number, &purchase.Buyer.Name, &purchase.Buyer.Email, &purchase.Buyer.Language,
			&purchase.Total.Minor, &purchase.Total.Currency, &paidAt, &purchase.Cancelled)
	if err != nil {
		return notify.Purchase{}, found(err)
	}
	if paidAt != nil {
		purchase.PaidAt = *paidAt
	}
	purchase.Items, err = h.items(ctx, id, purchase.Total.Currency)
	return purchase, err
}

func (h *Host) items(ctx context.Context, purchaseID int64, currency string) ([]notify.PurchaseItem, error) {
	rows, err := h.pool.Query(ctx, `
		SELECT description, quantity, amount FROM sample_host.purchase_items WHERE purchase_id = $1 ORDER BY position`, purchaseID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (notify.PurchaseItem, error) {
		item := notify.PurchaseItem{Amount: view.Money{Currency: currency}}
		err := row.Scan(&item.Description, &item.Quantity, &item.Amount.Minor)
		return item, err
	})
}
