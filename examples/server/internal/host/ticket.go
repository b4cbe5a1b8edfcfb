package host

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
)

// issueTickets gives a purchase its tickets, and takes their seats.
func issueTickets(ctx context.Context, tx pgx.Tx, purchaseID int64, paid payment) error {
	codes, seats := make([]string, paid.seats), make([]string, paid.seats)
	for i := range paid.seats {
		codes[i], seats[i] = newTicketCode(), seatName(paid.seatsTaken+i)
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO sample_host.tickets (purchase_id, code, kind, seat, holder, price)
		SELECT p.id, ticket.code, e.ticket_kind, ticket.seat, u.name, e.ticket_price
		FROM sample_host.purchases p
		JOIN sample_host.users u ON u.id = p.user_id
		JOIN sample_host.event_dates d ON d.id = p.event_date_id
		JOIN sample_host.events e ON e.code = d.event_code
		CROSS JOIN unnest($2::text[], $3::text[]) ticket (code, seat)
		WHERE p.id = $1`, purchaseID, codes, seats)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE sample_host.event_dates SET seats_taken = seats_taken + $2 WHERE id = $1`, paid.eventDateID, paid.seats)
	return err
}

// newTicketCode returns a code that nobody guesses, 100 bits, and that fits the
// ticket's line.
func newTicketCode() string { return rand.Text()[:20] }

// seatsInRow is how many seats a row has.
const seatsInRow = 20

// seatName names the n-th seat, from 0.
func seatName(n int) string {
	return fmt.Sprintf("Fila %d, asiento %d", n/seatsInRow+1, n%seatsInRow+1)
}

// Tickets implements notify.Tickets. The library draws them; a host that has
// documents of its own gives PDFs instead.
func (h *Host) Tickets(ctx context.Context, tenantCode, purchaseID string) (notify.PurchaseTickets, error) {
	id, err := parseID(purchaseID)
	if err != nil {
		return notify.PurchaseTickets{}, err
	}
	rows, err := h.pool.Query(ctx, `
		SELECT t.code, t.kind, t.seat, t.holder, t.price, e.currency, e.name, e.venue, e.address, d.starts_at, e.time_zone, d.notice
		FROM sample_host.tickets t
		JOIN sample_host.purchases p ON p.id = t.purchase_id
		JOIN sample_host.event_dates d ON d.id = p.event_date_id
		JOIN sample_host.events e ON e.code = d.event_code
		WHERE p.id = $1 AND e.tenant_code = $2
		ORDER BY t.id`, id, tenantCode)
	if err != nil {
		return notify.PurchaseTickets{}, err
	}
	tickets, err := pgx.CollectRows(rows, scanTicket)
	return notify.PurchaseTickets{Tickets: tickets}, found(err)
}

func scanTicket(row pgx.CollectableRow) (notify.Ticket, error) {
	var ticket notify.Ticket
	var price view.Money
	var zone string
	date := &ticket.EventDate
	err := row.Scan(&ticket.Code, &ticket.Kind, &ticket.Seat, &ticket.Holder, &price.Minor, &price.Currency,
		&date.Name, &date.Venue, &date.Address, &date.StartsAt, &zone, &date.Notice)
	if err != nil {
		return ticket, err
	}
	ticket.Price = price
	date.TimeZone, err = time.LoadLocation(zone)
	return ticket, err
}
