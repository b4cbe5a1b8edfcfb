package notify

import (
	"context"
	"fmt"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/internal/ticketpdf"
)

// TicketsPDF returns the PDF that the confirmation of a purchase has attached,
// for a host that offers it for download too; nil when there are no tickets.
// language is the reader's, a BCP 47 tag; where it is none of the views' the PDF
// is in the tenant's.
func (s *MailService) TicketsPDF(ctx context.Context, tenantCode, purchaseID, language string) ([]byte, error) {
	tenant, err := s.tenant(ctx, tenantCode)
	if err != nil {
		return nil, err
	}
	if _, err := tenant.brand(tenantCode, false); err != nil {
		return nil, err
	}
	purchase, err := s.purchase(ctx, tenantCode, purchaseID)
	if err != nil {
		return nil, err
	}
	tickets, err := s.tickets(ctx, tenantCode, purchaseID)
	if err != nil {
		return nil, err
	}
	purchase.Buyer.Language = language
	attachments, err := attach(tenant, purchase, tickets, s.views.purchaseConfirmed.Languages())
	if err != nil || len(attachments) == 0 {
		return nil, err
	}
	return attachments[0].Content, nil
}

// ticketsPDF returns the tickets as one document.
func ticketsPDF(tenant Tenant, purchase Purchase, tickets PurchaseTickets, words ticketWords, locale view.Locale) ([]byte, error) {
	if len(tickets.PDFs) > 0 {
		return ticketpdf.Merge(tickets.PDFs)
	}
	look := tenant.Brand.Look()
	document := ticketpdf.Document{
		Title:    words.title(purchase.Number),
		Language: locale.Tag(),
		Brand:    ticketpdf.Brand{Name: look.Name, Color: look.Primary, OnColor: look.OnPrimary, Logo: tenant.Brand.Logo, Footer: look.Footer},
	}
	for i, ticket := range tickets.Tickets {
		document.Pages = append(document.Pages, ticketPage(tenant, purchase, ticket, words, locale,
			fmt.Sprintf(words.position, i+1, len(tickets.Tickets))))
	}
	return ticketpdf.Draw(document)
}

func ticketPage(tenant Tenant, purchase Purchase, ticket Ticket, words ticketWords, locale view.Locale, position string) ticketpdf.Page {
	date := ticket.EventDate.data(tenant)
	page := ticketpdf.Page{Heading: date.Name, Code: ticket.Code, Note: position, Lines: []string{locale.Moment(date.StartsAt)}}
	for _, place := range []string{date.Venue, date.Address} {
		if place != "" {
			page.Lines = append(page.Lines, place)
		}
	}
	price := ""
	if !ticket.Price.IsZero() {
		price = locale.Money(ticket.Price)
	}
	for _, field := range []ticketpdf.Field{
		{Label: words.kind, Value: ticket.Kind},
		{Label: words.seat, Value: ticket.Seat},
		{Label: words.holder, Value: ticket.Holder},
		{Label: words.price, Value: price},
		{Label: words.purchase, Value: purchase.Number},
	} {
		if field.Value = view.OneLine(field.Value, maxField); field.Value != "" {
			page.Fields = append(page.Fields, field)
		}
	}
	return page
}

// maxField is how much of a field a ticket shows, in characters.
const maxField = 300

// ticketCode refuses what a ticket cannot show as a code.
func ticketCode(code string) error { return ticketpdf.CheckCode(code) }
