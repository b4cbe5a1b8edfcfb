package notify

import "errors"

// The job types of [EventDateRescheduled] and [EventDateRescheduledPurchase].
const (
	TypeEventDateRescheduled         = "event_date_rescheduled"
	TypeEventDateRescheduledPurchase = "event_date_rescheduled_purchase"
)

// eventDateRescheduledVersion is the version of their payloads.
const eventDateRescheduledVersion = 1

// EventDateRescheduled says that a date of an event was moved to another, which
// reaches every purchase of it: its job writes an [EventDateRescheduledPurchase]
// for each.
type EventDateRescheduled struct {
	TenantCode             string `json:"tenant_code"`
	SourceEventDateID      string `json:"source_event_date_id"`
	DestinationEventDateID string `json:"destination_event_date_id"`
}

// Type implements [Event].
func (EventDateRescheduled) Type() EventType {
	return EventType{JobType: TypeEventDateRescheduled, Version: eventDateRescheduledVersion}
}

// Tenant implements [Event].
func (e EventDateRescheduled) Tenant() string { return e.TenantCode }

// Validate implements [Event].
func (e EventDateRescheduled) Validate() error {
	return errors.Join(checkID("TenantCode", e.TenantCode), checkID("SourceEventDateID", e.SourceEventDateID),
		checkID("DestinationEventDateID", e.DestinationEventDateID), checkMove(e.SourceEventDateID, e.DestinationEventDateID))
}

func checkMove(source, destination string) error {
	if source == destination {
		return errors.New("SourceEventDateID and DestinationEventDateID are the same")
	}
	return nil
}

// EventDateRescheduledPurchase says that the date of one purchase was moved. The
// library publishes it for each purchase of an [EventDateRescheduled]; a host
// may publish it for one.
//
// One key is one e-mail for ever: a date that was moved from A to B, back, and
// to B again gives the e-mail from A to B once.
type EventDateRescheduledPurchase struct {
	TenantCode             string `json:"tenant_code"`
	SourceEventDateID      string `json:"source_event_date_id"`
	DestinationEventDateID string `json:"destination_event_date_id"`
	PurchaseID             string `json:"purchase_id"`
}

// Type implements [Event].
func (EventDateRescheduledPurchase) Type() EventType {
	return EventType{JobType: TypeEventDateRescheduledPurchase, Version: eventDateRescheduledVersion}
}

// Tenant implements [Event].
func (e EventDateRescheduledPurchase) Tenant() string { return e.TenantCode }

// Validate implements [Event].
func (e EventDateRescheduledPurchase) Validate() error {
	return errors.Join(checkID("TenantCode", e.TenantCode), checkID("SourceEventDateID", e.SourceEventDateID),
		checkID("DestinationEventDateID", e.DestinationEventDateID), checkMove(e.SourceEventDateID, e.DestinationEventDateID),
		checkID("PurchaseID", e.PurchaseID))
}
