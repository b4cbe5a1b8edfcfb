package host

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// A ListedDate is a date of an event as the pages show it.
type ListedDate struct {
	ID         int64
	TenantCode string
	Tenant     string // the name
	Event      string
	Venue      string
	Address    string
	StartsAt   time.Time // in the event's zone
	State      string    // scheduled, rescheduled, suspended
	MovedTo    time.Time // in the event's zone; zero for nowhere
	Notice     string
	Paid       int // purchases on it, by their state
	Pending    int
}

// Scheduled reports whether the date takes place.
func (d ListedDate) Scheduled() bool { return d.State == "scheduled" }

// selectDates are the columns that scanListedDate reads.
const selectDates = `
	SELECT d.id, t.code, t.name, e.name, e.venue, e.address, d.starts_at, e.time_zone, d.state, destination.starts_at, d.notice,
		(SELECT count(*) FROM sample_host.purchases p WHERE p.event_date_id = d.id AND p.state = 'paid'),
		(SELECT count(*) FROM sample_host.purchases p WHERE p.event_date_id = d.id AND p.state = 'pending')
	FROM sample_host.event_dates d
	JOIN sample_host.events e ON e.code = d.event_code
	JOIN sample_host.tenants t ON t.code = e.tenant_code
	LEFT JOIN sample_host.event_dates destination ON destination.id = d.moved_to`

// listedDates is how many dates the page shows.
const listedDates = 100

// ListDates returns the dates of all events: those that take place first, and
// of these the next one.
func (h *Host) ListDates(ctx context.Context) ([]ListedDate, error) {
	rows, err := h.pool.Query(ctx, selectDates+` ORDER BY d.state <> 'scheduled', d.starts_at, d.id LIMIT $1`, listedDates)
	if err != nil {
		return nil, fmt.Errorf("host: list dates: %w", err)
	}
	dates, err := pgx.CollectRows(rows, scanListedDate)
	if err != nil {
		return nil, fmt.Errorf("host: list dates: %w", err)
	}
	return dates, nil
}

// FindDate returns a date of any tenant, or notify.ErrNotFound.
func (h *Host) FindDate(ctx context.Context, id int64) (ListedDate, error) {
	rows, err := h.pool.Query(ctx, selectDates+` WHERE d.id = $1`, id)
	if err != nil {
		return ListedDate{}, fmt.Errorf("host: find date %d: %w", id, err)
	}
	date, err := pgx.CollectExactlyOneRow(rows, scanListedDate)
	if err != nil {
		return ListedDate{}, fmt.Errorf("host: find date %d: %w", id, found(err))
	}
	return date, nil
}

func scanListedDate(row pgx.CollectableRow) (ListedDate, error) {
	var d ListedDate
	var zone string
	var movedTo *time.Time
	err := row.Scan(&d.ID, &d.TenantCode, &d.Tenant, &d.Event, &d.Venue, &d.Address, &d.StartsAt, &zone, &d.State, &movedTo, &d.Notice,
		&d.Paid, &d.Pending)
	if err != nil {
		return d, err
	}
	if movedTo != nil {
		if d.MovedTo, err = inZone(*movedTo, zone); err != nil {
			return d, err
		}
	}
	d.StartsAt, err = inZone(d.StartsAt, zone)
	return d, err
}
