package host

import (
	"context"
	"iter"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/notify"
)

// EventDate implements notify.EventDates.
func (h *Host) EventDate(ctx context.Context, tenantCode, eventDateID string) (notify.EventDate, error) {
	id, err := parseID(eventDateID)
	if err != nil {
		return notify.EventDate{}, err
	}
	var date notify.EventDate
	var zone string
	err = h.pool.QueryRow(ctx, `
		SELECT e.name, e.venue, e.address, d.starts_at, e.time_zone, d.notice
		FROM sample_host.event_dates d
		JOIN sample_host.events e ON e.code = d.event_code
		WHERE d.id = $1 AND e.tenant_code = $2`, id, tenantCode).
		Scan(&date.Name, &date.Venue, &date.Address, &date.StartsAt, &zone, &date.Notice)
	if err != nil {
		return notify.EventDate{}, found(err)
	}
	date.TimeZone, err = time.LoadLocation(zone)
	return date, err
}

// purchasePage is how many ids a query reads.
const purchasePage = 500

// PurchaseIDs implements notify.EventDates: the paid purchases that stand on the
// date and, of a rescheduled one, those that stood on it. An id is the place in
// the list, so that any page is found by an index, however long the list is.
func (h *Host) PurchaseIDs(ctx context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	return notify.Paged(after, func(after string) ([]string, error) {
		date, err := parseID(eventDateID)
		if err != nil {
			return nil, err
		}
		var last int64
		if after != "" {
			if last, err = parseID(after); err != nil {
				return nil, err
			}
		}
		rows, err := h.pool.Query(ctx, `
			SELECT purchase.id::text
			FROM sample_host.event_dates d
			JOIN sample_host.events e ON e.code = d.event_code
			CROSS JOIN LATERAL (
				(SELECT id FROM sample_host.purchases
				 WHERE event_date_id = d.id AND state = 'paid' AND id > $3 ORDER BY id LIMIT $4)
				UNION
				(SELECT purchase_id FROM sample_host.moved_purchases
				 WHERE event_date_id = d.id AND purchase_id > $3 ORDER BY purchase_id LIMIT $4)
			) purchase (id)
			WHERE d.id = $1 AND e.tenant_code = $2
			ORDER BY purchase.id LIMIT $4`, date, tenantCode, last, purchasePage)
		if err != nil {
			return nil, err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		return ids, found(err)
	})
}
