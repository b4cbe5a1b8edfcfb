package notify

import "errors"

// The job types of [EventDateSuspended] and [EventDateSuspendedPurchase].
const (
	TypeEventDateSuspended         = "event_date_suspended"
	TypeEventDateSuspendedPurchase = "event_date_suspended_purchase"
)

// eventDateSuspendedVersion is the version of their payloads.
const eventDateSuspendedVersion = 1

// EventDateSuspended says that a date of an event does not take place, which
// reaches every purchase of it: its job writes an [EventDateSuspendedPurchase]
// for each.
type EventDateSuspended struct {
	TenantCode  string `json:"tenant_code"`
	EventDateID string `json:"event_date_id"`
}

// Type implements [Event].
func (EventDateSuspended) Type() EventType {
	return EventType{JobType: TypeEventDateSuspended, Version: eventDateSuspendedVersion}
}

// Tenant implements [Event].
func (e EventDateSuspended) Tenant() string { return e.TenantCode }

// Validate implements [Event].
func (e EventDateSuspended) Validate() error {
	return errors.Join(checkID("TenantCode", e.TenantCode), checkID("EventDateID", e.EventDateID))
}

// EventDateSuspendedPurchase says that the date of one purchase does not take
// place. The library publishes it for each purchase of an [EventDateSuspended];
// a host may publish it for one.
type EventDateSuspendedPurchase struct {
	TenantCode  string `json:"tenant_code"`
	EventDateID string `json:"event_date_id"`
	PurchaseID  string `json:"purchase_id"`
}

// Type implements [Event].
func (EventDateSuspendedPurchase) Type() EventType {
	return EventType{JobType: TypeEventDateSuspendedPurchase, Version: eventDateSuspendedVersion}
}

// Tenant implements [Event].
func (e EventDateSuspendedPurchase) Tenant() string { return e.TenantCode }

// Validate implements [Event].
func (e EventDateSuspendedPurchase) Validate() error {
	return errors.Join(checkID("TenantCode", e.TenantCode), checkID("EventDateID", e.EventDateID), checkID("PurchaseID", e.PurchaseID))
}
