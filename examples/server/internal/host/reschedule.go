package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/notify"
)

// Reschedule moves a date, with all its purchases, and publishes that it did, in
// one transaction. The date stays, as the one that was; a new one takes its
// place. One that is not scheduled, or does not exist, is [ErrNotScheduled]; a
// time that another date of the event has is [ErrDateTaken].
func (h *Host) Reschedule(ctx context.Context, eventDateID int64, startsAt time.Time, notice string) error {
	err := delivery.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		tenantCode, err := closeDate(ctx, tx, eventDateID, "rescheduled")
		if err != nil {
			return err
		}
		destination, err := replaceDate(ctx, tx, eventDateID, startsAt, notice)
		if err != nil {
			return err
		}
		if err := movePurchases(ctx, tx, eventDateID, destination); err != nil {
			return err
		}
		return h.outbox.Publish(ctx, tx, notify.EventDateRescheduled{
			TenantCode: tenantCode, SourceEventDateID: formatID(eventDateID), DestinationEventDateID: formatID(destination),
		})
	})
	if err != nil {
		return fmt.Errorf("host: reschedule date %d: %w", eventDateID, err)
	}
	return nil
}

// Suspend says that a date does not take place, and publishes it. One that is
// not scheduled, or does not exist, is [ErrNotScheduled].
func (h *Host) Suspend(ctx context.Context, eventDateID int64, notice string) error {
	err := delivery.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		tenantCode, err := closeDate(ctx, tx, eventDateID, "suspended")
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `UPDATE sample_host.event_dates SET notice = $2 WHERE id = $1`, eventDateID, notice); err != nil {
			return err
		}
		return h.outbox.Publish(ctx, tx, notify.EventDateSuspended{TenantCode: tenantCode, EventDateID: formatID(eventDateID)})
	})
	if err != nil {
		return fmt.Errorf("host: suspend date %d: %w", eventDateID, err)
	}
	return nil
}

// closeDate gives a scheduled date its last state, and returns its tenant.
// Nobody can buy or pay for it from here on.
func closeDate(ctx context.Context, tx pgx.Tx, id int64, state string) (tenantCode string, err error) {
	err = tx.QueryRow(ctx, `
		UPDATE sample_host.event_dates d SET state = $2
		FROM sample_host.events e
		WHERE d.id = $1 AND d.state = 'scheduled' AND e.code = d.event_code
		RETURNING e.tenant_code`, id, state).Scan(&tenantCode)
	if isMissing(err) {
		err = ErrNotScheduled
	}
	return tenantCode, err
}

// replaceDate returns the date that takes another's place.
func replaceDate(ctx context.Context, tx pgx.Tx, source int64, startsAt time.Time, notice string) (destination int64, err error) {
	err = tx.QueryRow(ctx, `
		INSERT INTO sample_host.event_dates (event_code, starts_at, notice, seats_taken)
		SELECT event_code, $2, $3, seats_taken FROM sample_host.event_dates WHERE id = $1
		RETURNING id`, source, startsAt, notice).Scan(&destination)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == codeUniqueViolation {
		return 0, ErrDateTaken
	}
	return destination, err
}

// movePurchases moves all purchases, and notes whose buyers are to be told:
// those that have paid. Who pays later is told the new date anyway.
func movePurchases(ctx context.Context, tx pgx.Tx, source, destination int64) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO sample_host.moved_purchases (event_date_id, purchase_id)
		SELECT event_date_id, id FROM sample_host.purchases WHERE event_date_id = $1 AND state = 'paid'`, source)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE sample_host.purchases SET event_date_id = $2 WHERE event_date_id = $1`, source, destination)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE sample_host.event_dates SET moved_to = $2 WHERE id = $1`, source, destination)
	return err
}
