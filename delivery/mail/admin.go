package mail

import (
	"context"
	"errors"
	"fmt"

	"github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/internal/pgtext"
)

// GetDelivery returns what is known of a key, or [ErrNotFound].
func (m *Mailer) GetDelivery(ctx context.Context, tenant, key string) (*Record, error) {
	return m.store.get(ctx, m.pool, tenant, key)
}

// A Resolution is what an operator decides about an e-mail whose outcome is
// unknown.
type Resolution string

// The resolutions.
const (
	// SendAgain lets the next attempt send the e-mail: the one of the job
	// that waits, within HoldRecheck or at delivery's Queue.RetryNow, or of a
	// job that is retried by hand where that one has ended.
	SendAgain Resolution = "send again"
	// MarkSent records the e-mail as sent.
	MarkSent Resolution = "mark as sent"
)

// Resolve decides about an e-mail whose outcome is unknown. by and reason are
// kept with the delivery; both are required. One that does not exist is
// [ErrNotFound], one whose outcome is known [ErrNotOnHold].
func (m *Mailer) Resolve(ctx context.Context, tenant, key string, resolution Resolution, by, reason string) error {
	err := errors.Join(
		pgtext.Check("by", by, 1, 1024),
		pgtext.Check("reason", reason, 1, 1024),
	)
	status, known := map[Resolution]Status{SendAgain: StatusFailed, MarkSent: StatusSent}[resolution]
	if !known {
		err = errors.Join(err, fmt.Errorf("resolution is %q; want %q or %q", resolution, SendAgain, MarkSent))
	}
	if err != nil {
		return fmt.Errorf("mail: resolve %q: %w", key, err)
	}
	tag, err := m.pool.Exec(ctx, m.store.sql.resolve, tenant, key, status, by, reason)
	if err != nil {
		return m.store.explain(fmt.Sprintf("resolve %q", key), err)
	}
	if tag.RowsAffected() == 1 {
		return nil
	}
	if _, err := m.store.get(ctx, m.pool, tenant, key); err != nil {
		return err
	}
	return fmt.Errorf("mail: resolve %q: %w", key, ErrNotOnHold)
}

// DeliveryFilter selects deliveries; its zero fields select all.
type DeliveryFilter struct {
	Tenant    string
	Kind      string
	Status    Status
	OnUnknown UnknownPolicy
	Before    int64 // ids below this one, for the next page
	Limit     int   // how many, 1 to 1,000; defaults to 50
}

// ListDeliveries returns deliveries, the newest id first. What is on hold has
// StatusUnknown and the policy Hold. It is for people who look: a filter may
// have to pass over many rows.
func (m *Mailer) ListDeliveries(ctx context.Context, filter DeliveryFilter) ([]*Record, error) {
	if filter.Limit == 0 {
		filter.Limit = 50
	}
	if err := pgtext.CheckRange("Limit", filter.Limit, 1, 1000); err != nil {
		return nil, fmt.Errorf("mail: list deliveries: %w", err)
	}
	sql, args, err := filter.statement(m.store.table)
	if err != nil {
		return nil, fmt.Errorf("mail: list deliveries: %w", err)
	}
	rows, err := m.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, m.store.explain("list deliveries", err)
	}
	records, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Record, error) { return scanDelivery(row) })
	return records, m.store.explain("list deliveries", err)
}

func (f DeliveryFilter) statement(table string) (string, []any, error) {
	equal := squirrel.Eq{}
	for column, value := range map[string]string{
		"tenant": f.Tenant, "kind": f.Kind, "status": string(f.Status), "on_unknown": string(f.OnUnknown),
	} {
		if value != "" {
			equal[column] = value
		}
	}
	page := squirrel.Select(deliveryColumns).From(table).Where(equal).OrderBy("id DESC").
		Limit(uint64(f.Limit)) //nolint:gosec // Checked to be positive.
	if f.Before > 0 {
		page = page.Where(squirrel.Lt{"id": f.Before})
	}
	return page.PlaceholderFormat(squirrel.Dollar).ToSql()
}
