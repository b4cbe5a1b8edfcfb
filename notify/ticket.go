package notify

import (
	"context"
	"errors"
	"fmt"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// Tickets finds the tickets of purchases. The host implements it; the context is
// as that of [Users].
type Tickets interface {
	// Tickets returns the tickets that the purchase has generated; none when it
	// has generated none.
	Tickets(ctx context.Context, tenantCode, purchaseID string) (PurchaseTickets, error)
}

// NoTickets is for a host whose purchases generate no tickets.
type NoTickets struct{}

// Tickets implements [Tickets].
func (NoTickets) Tickets(context.Context, string, string) (PurchaseTickets, error) {
	return PurchaseTickets{}, nil
}

// PurchaseTickets are the tickets of a purchase: to be drawn, or as finished
// documents, not both. They become one PDF, attached to the confirmation.
type PurchaseTickets struct {
	// Tickets are drawn, a page each, in the tenant's identity and the reader's
	// language.
	Tickets []Ticket
	// PDFs are finished documents, which are merged in their order.
	PDFs [][]byte
}

// A Ticket admits somebody to a date of an event.
type Ticket struct {
	// Code is what is read at the gate: 1 to 300 bytes of printable text. It is
	// shown as a QR code and as text.
	Code string
	// EventDate is what it admits to.
	EventDate EventDate
	// Kind, Seat and Holder are shown where they are not empty.
	Kind   string // such as "Platea alta"
	Seat   string // such as "Fila 4, asiento 12"
	Holder string // who comes
	// Price is what was paid. A zero Money is not shown.
	Price view.Money
}

// Validate returns what is wrong with the tickets, naming the fields, or nil.
func (p PurchaseTickets) Validate() error {
	if len(p.Tickets) > 0 && len(p.PDFs) > 0 {
		return errors.New("there are both Tickets and PDFs")
	}
	var faults []error
	for i, ticket := range p.Tickets {
		field := fmt.Sprintf("Tickets[%d].", i)
		faults = append(faults,
			within(field+"Code", ticketCode(ticket.Code)),
			within(field+"EventDate", ticket.EventDate.Validate()),
			within(field+"Price", ticket.Price.Validate()))
	}
	for i, file := range p.PDFs {
		if len(file) == 0 {
			faults = append(faults, fmt.Errorf("PDFs[%d] is empty", i))
		}
	}
	return errors.Join(faults...)
}
