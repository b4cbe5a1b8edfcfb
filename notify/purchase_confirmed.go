package notify

import (
	"context"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/retry"
)

// PurchaseConfirmedData is what the view "purchase_confirmed" shows.
type PurchaseConfirmedData struct {
	Number    string
	PaidAt    time.Time // in the tenant's zone; zero for unknown
	Items     []PurchaseItem
	MoreItems int        // how many there are that Items leaves out
	Total     view.Money // zero for unknown
	URL       string     // empty for none

	EventDates []EventDateData // of the tickets, each once
	Attached   bool            // the tickets are attached
}

// EventDateData is a date of an event as views show it.
type EventDateData struct {
	Name     string
	StartsAt time.Time // in the date's own zone
	Venue    string    // empty for unknown, as Address
	Address  string
	Notice   []string // the organiser's words, its lines
}

// SendPurchaseConfirmed sends a purchase's buyer the confirmation, with its
// tickets in one PDF, once for ever: its key is
// purchase-confirmed:{purchase_id}. One that was cancelled since is skipped.
// What the error means is said in the package documentation.
func (s *MailService) SendPurchaseConfirmed(ctx context.Context, event PurchasePaid) error {
	return s.confirmed.send(ctx, s, event)
}

func (s *MailService) confirmedKind() Kind[PurchasePaid, PurchaseConfirmedData] {
	return Kind[PurchasePaid, PurchaseConfirmedData]{
		Name: KindPurchaseConfirmed, View: s.views.purchaseConfirmed, OnUnknown: s.config.OnUnknown[KindPurchaseConfirmed],
		Key:  func(e PurchasePaid) []string { return []string{e.PurchaseID} },
		Load: s.loadConfirmed,
	}
}

func (s *MailService) loadConfirmed(ctx context.Context, event PurchasePaid, tenant Tenant) (Email[PurchaseConfirmedData], error) {
	var none Email[PurchaseConfirmedData]
	purchase, err := s.purchase(ctx, event.TenantCode, event.PurchaseID)
	if err != nil {
		return none, err
	}
	tickets, err := s.tickets(ctx, event.TenantCode, event.PurchaseID)
	if err != nil {
		return none, err
	}
	attachments, err := attach(tenant, purchase, tickets, s.views.purchaseConfirmed.Languages())
	if err != nil {
		return none, err
	}
	return Email[PurchaseConfirmedData]{
		To: purchase.Buyer, Data: confirmedData(tenant, purchase, tickets, len(attachments) > 0), Attachments: attachments,
	}, nil
}

// purchase loads a purchase, and returns a delivery.Skip when it was cancelled.
func (s *MailService) purchase(ctx context.Context, tenantCode, id string) (Purchase, error) {
	if s.config.Purchases == nil {
		return Purchase{}, retry.Permanent(errNoInterface("Purchases"))
	}
	what := fmt.Sprintf("purchase %q of tenant %q", id, tenantCode)
	purchase, err := ask(ctx, s.config.LoadTimeout, what, func(ctx context.Context) (Purchase, error) {
		return s.config.Purchases.Purchase(ctx, tenantCode, id)
	})
	switch {
	case err != nil:
		return Purchase{}, err
	case purchase.Cancelled:
		return Purchase{}, delivery.Skip("the purchase was cancelled")
	}
	if err := purchase.Validate(); err != nil {
		return Purchase{}, retry.Permanent(fmt.Errorf("notify: %s: %w", what, err))
	}
	return purchase, nil
}

// tickets loads the tickets of a purchase.
func (s *MailService) tickets(ctx context.Context, tenantCode, purchaseID string) (PurchaseTickets, error) {
	what := fmt.Sprintf("the tickets of purchase %q of tenant %q", purchaseID, tenantCode)
	tickets, err := ask(ctx, s.config.LoadTimeout, what, func(ctx context.Context) (PurchaseTickets, error) {
		return s.config.Tickets.Tickets(ctx, tenantCode, purchaseID)
	})
	if err != nil {
		return PurchaseTickets{}, err
	}
	if err := tickets.Validate(); err != nil {
		return PurchaseTickets{}, retry.Permanent(fmt.Errorf("notify: %s: %w", what, err))
	}
	return tickets, nil
}

// Limits of what an e-mail shows.
const (
	maxItems      = 100
	maxEventDates = 20
	maxTitle      = 200 // characters of an event's name, an item, a place
)

func confirmedData(tenant Tenant, purchase Purchase, tickets PurchaseTickets, attached bool) PurchaseConfirmedData {
	data := PurchaseConfirmedData{
		Number: view.OneLine(purchase.Number, view.MaxName), PaidAt: tenant.in(purchase.PaidAt),
		Total: purchase.Total, URL: purchase.URL, Attached: attached,
		MoreItems: max(len(purchase.Items)-maxItems, 0),
	}
	for _, item := range purchase.Items[:len(purchase.Items)-data.MoreItems] {
		item.Description = view.OneLine(item.Description, maxTitle)
		data.Items = append(data.Items, item)
	}
	seen := map[string]bool{}
	for _, ticket := range tickets.Tickets {
		date := ticket.EventDate.data(tenant)
		key := fmt.Sprintf("%q %d %q", date.Name, date.StartsAt.UnixNano(), date.Venue)
		if !seen[key] && len(seen) < maxEventDates {
			seen[key] = true
			data.EventDates = append(data.EventDates, date)
		}
	}
	return data
}

func (d EventDate) data(tenant Tenant) EventDateData {
	return EventDateData{
		Name: view.OneLine(d.Name, maxTitle), StartsAt: inZone(d.StartsAt, d.TimeZone, tenant.TimeZone),
		Venue: view.OneLine(d.Venue, maxTitle), Address: view.OneLine(d.Address, maxTitle), Notice: view.Lines(d.Notice),
	}
}

// attach returns the tickets as the attachment of an e-mail, or none when there
// are none.
func attach(tenant Tenant, purchase Purchase, tickets PurchaseTickets, viewLanguages []string) ([]mail.Attachment, error) {
	if len(tickets.Tickets) == 0 && len(tickets.PDFs) == 0 {
		return nil, nil
	}
	language, locale := view.Match(viewLanguages, languages(purchase.Buyer, tenant)...)
	document, err := ticketsPDF(tenant, purchase, tickets, wordsIn(language), locale)
	if err != nil {
		return nil, retry.Permanent(fmt.Errorf("notify: the PDF of purchase %q: %w", purchase.Number, err))
	}
	return []mail.Attachment{{
		Name: wordsIn(language).fileName(purchase.Number), ContentType: "application/pdf", Content: document,
	}}, nil
}
