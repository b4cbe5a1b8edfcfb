package notify

import (
	"context"
	"fmt"
	"iter"

	"github.com/buzon-go/buzon/retry"
)

// EventDateRescheduledData is what the view "event_date_rescheduled" shows.
type EventDateRescheduledData struct {
	Number        string        // the purchase's
	URL           string        // where the buyer sees the purchase; empty for none
	Before, After EventDateData // the date that was, and the one that is; the notice is After's
}

// EventDateSuspendedData is what the view "event_date_suspended" shows.
type EventDateSuspendedData struct {
	Number    string // the purchase's
	URL       string // where the buyer sees the purchase; empty for none
	EventDate EventDateData
}

// SendEventDateRescheduled tells a purchase's buyer of the new date, once for
// ever: its key is
// event-date-rescheduled:{source_event_date_id}:{destination_event_date_id}:{purchase_id}.
// A purchase that was cancelled since is skipped. What the error means is said
// in the package documentation.
func (s *MailService) SendEventDateRescheduled(ctx context.Context, event EventDateRescheduledPurchase) error {
	return s.rescheduled.send(ctx, s, event)
}

// SendEventDateSuspended tells a purchase's buyer that the date does not take
// place, once for ever: its key is
// event-date-suspended:{event_date_id}:{purchase_id}. A purchase that was
// cancelled since is skipped. What the error means is said in the package
// documentation.
func (s *MailService) SendEventDateSuspended(ctx context.Context, event EventDateSuspendedPurchase) error {
	return s.suspended.send(ctx, s, event)
}

func (s *MailService) rescheduledKind() Kind[EventDateRescheduledPurchase, EventDateRescheduledData] {
	return Kind[EventDateRescheduledPurchase, EventDateRescheduledData]{
		Name: KindEventDateRescheduled, View: s.views.eventDateRescheduled, OnUnknown: s.config.OnUnknown[KindEventDateRescheduled],
		Key: func(e EventDateRescheduledPurchase) []string {
			return []string{e.SourceEventDateID, e.DestinationEventDateID, e.PurchaseID}
		},
		Load: s.loadRescheduled,
	}
}

func (s *MailService) suspendedKind() Kind[EventDateSuspendedPurchase, EventDateSuspendedData] {
	return Kind[EventDateSuspendedPurchase, EventDateSuspendedData]{
		Name: KindEventDateSuspended, View: s.views.eventDateSuspended, OnUnknown: s.config.OnUnknown[KindEventDateSuspended],
		Key:  func(e EventDateSuspendedPurchase) []string { return []string{e.EventDateID, e.PurchaseID} },
		Load: s.loadSuspended,
	}
}

func (s *MailService) loadRescheduled(ctx context.Context, event EventDateRescheduledPurchase, tenant Tenant) (Email[EventDateRescheduledData], error) {
	var none Email[EventDateRescheduledData]
	before, err := s.eventDate(ctx, event.TenantCode, event.SourceEventDateID, tenant)
	if err != nil {
		return none, err
	}
	after, err := s.eventDate(ctx, event.TenantCode, event.DestinationEventDateID, tenant)
	if err != nil {
		return none, err
	}
	purchase, err := s.purchase(ctx, event.TenantCode, event.PurchaseID)
	if err != nil {
		return none, err
	}
	shown := confirmedData(tenant, purchase, PurchaseTickets{}, false)
	return Email[EventDateRescheduledData]{To: purchase.Buyer, Data: EventDateRescheduledData{
		Number: shown.Number, URL: shown.URL, Before: before, After: after,
	}}, nil
}

func (s *MailService) loadSuspended(ctx context.Context, event EventDateSuspendedPurchase, tenant Tenant) (Email[EventDateSuspendedData], error) {
	var none Email[EventDateSuspendedData]
	date, err := s.eventDate(ctx, event.TenantCode, event.EventDateID, tenant)
	if err != nil {
		return none, err
	}
	purchase, err := s.purchase(ctx, event.TenantCode, event.PurchaseID)
	if err != nil {
		return none, err
	}
	shown := confirmedData(tenant, purchase, PurchaseTickets{}, false)
	return Email[EventDateSuspendedData]{To: purchase.Buyer, Data: EventDateSuspendedData{
		Number: shown.Number, URL: shown.URL, EventDate: date,
	}}, nil
}

// eventDate loads a date.
func (s *MailService) eventDate(ctx context.Context, tenantCode, id string, tenant Tenant) (EventDateData, error) {
	if s.config.EventDates == nil {
		return EventDateData{}, retry.Permanent(errNoInterface("EventDates"))
	}
	what := fmt.Sprintf("event date %q of tenant %q", id, tenantCode)
	date, err := ask(ctx, s.config.LoadTimeout, what, func(ctx context.Context) (EventDate, error) {
		return s.config.EventDates.EventDate(ctx, tenantCode, id)
	})
	if err != nil {
		return EventDateData{}, err
	}
	if err := date.Validate(); err != nil {
		return EventDateData{}, retry.Permanent(fmt.Errorf("notify: %s: %w", what, err))
	}
	return date.data(tenant), nil
}

func (s *MailService) rescheduledFanOut() FanOut[EventDateRescheduled] {
	return FanOut[EventDateRescheduled]{
		IDs: func(ctx context.Context, e EventDateRescheduled, after string) iter.Seq2[string, error] {
			return s.config.EventDates.PurchaseIDs(ctx, e.TenantCode, e.SourceEventDateID, after)
		},
		Event: func(e EventDateRescheduled, id string) Event {
			return EventDateRescheduledPurchase{
				TenantCode: e.TenantCode, SourceEventDateID: e.SourceEventDateID,
				DestinationEventDateID: e.DestinationEventDateID, PurchaseID: id,
			}
		},
	}
}

func (s *MailService) suspendedFanOut() FanOut[EventDateSuspended] {
	return FanOut[EventDateSuspended]{
		IDs: func(ctx context.Context, e EventDateSuspended, after string) iter.Seq2[string, error] {
			return s.config.EventDates.PurchaseIDs(ctx, e.TenantCode, e.EventDateID, after)
		},
		Event: func(e EventDateSuspended, id string) Event {
			return EventDateSuspendedPurchase{TenantCode: e.TenantCode, EventDateID: e.EventDateID, PurchaseID: id}
		},
	}
}
