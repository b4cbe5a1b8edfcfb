package host

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// A ListedPurchase is a purchase as the page of purchases shows it.
type ListedPurchase struct {
	ID         int64
	Number     string
	TenantCode string
	Tenant     string // the name
	Buyer      string
	Language   string // the buyer's, BCP 47; empty for the tenant's
	Event      string
	StartsAt   time.Time // in the event's zone
	Scheduled  bool      // the date takes place
	Seats      int
	Total      view.Money
	State      string // pending, paid, cancelled
	CreatedAt  time.Time
}

// Payable reports whether [Host.Pay] can succeed.
func (p ListedPurchase) Payable() bool { return p.State == "pending" && p.Scheduled }

// HasTickets reports whether there are tickets to be downloaded.
func (p ListedPurchase) HasTickets() bool { return p.State == "paid" && p.Seats > 0 }

// selectPurchases are the columns that scanListedPurchase reads.
const selectPurchases = `
	SELECT p.id, p.number, t.code, t.name, u.name, u.language, e.name, d.starts_at, e.time_zone, d.state = 'scheduled',
		p.seats, p.total, p.currency, p.state, p.created_at
	FROM sample_host.purchases p
	JOIN sample_host.users u ON u.id = p.user_id
	JOIN sample_host.tenants t ON t.code = u.tenant_code
	JOIN sample_host.event_dates d ON d.id = p.event_date_id
	JOIN sample_host.events e ON e.code = d.event_code`

// listedPurchases is how many purchases the page shows.
const listedPurchases = 50

// ListPurchases returns the newest purchases, the newest first.
func (h *Host) ListPurchases(ctx context.Context) ([]ListedPurchase, error) {
	rows, err := h.pool.Query(ctx, selectPurchases+` ORDER BY p.id DESC LIMIT $1`, listedPurchases)
	if err != nil {
		return nil, fmt.Errorf("host: list purchases: %w", err)
	}
	purchases, err := pgx.CollectRows(rows, scanListedPurchase)
	if err != nil {
		return nil, fmt.Errorf("host: list purchases: %w", err)
	}
	return purchases, nil
}

// FindPurchase returns a purchase of any tenant, or notify.ErrNotFound.
func (h *Host) FindPurchase(ctx context.Context, id int64) (ListedPurchase, error) {
	rows, err := h.pool.Query(ctx, selectPurchases+` WHERE p.id = $1`, id)
	if err != nil {
		return ListedPurchase{}, fmt.Errorf("host: find purchase %d: %w", id, err)
	}
	purchase, err := pgx.CollectExactlyOneRow(rows, scanListedPurchase)
	if err != nil {
		return ListedPurchase{}, fmt.Errorf("host: find purchase %d: %w", id, found(err))
	}
	return purchase, nil
}

func scanListedPurchase(row pgx.CollectableRow) (ListedPurchase, error) {
	var p ListedPurchase
	var zone string
	err := row.Scan(&p.ID, &p.Number, &p.TenantCode, &p.Tenant, &p.Buyer, &p.Language, &p.Event, &p.StartsAt, &zone, &p.Scheduled,
		&p.Seats, &p.Total.Minor, &p.Total.Currency, &p.State, &p.CreatedAt)
	if err != nil {
		return p, err
	}
	p.StartsAt, err = inZone(p.StartsAt, zone)
	return p, err
}
