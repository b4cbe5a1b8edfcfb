package notify

import (
	"errors"

	"github.com/buzon-go/buzon/delivery"
)

// TypePurchasePaid is the job type of [PurchasePaid].
const TypePurchasePaid = "purchase_paid"

// purchasePaidVersion is the version of its payload.
const purchasePaidVersion = 1

// PurchasePaid says that a purchase was paid, whose buyer is sent the
// confirmation with its tickets.
type PurchasePaid struct {
	TenantCode string `json:"tenant_code"`
	PurchaseID string `json:"purchase_id"`
}

// Type implements [Event].
func (PurchasePaid) Type() EventType {
	return EventType{JobType: TypePurchasePaid, Version: purchasePaidVersion, Priority: delivery.PriorityHigh}
}

// Tenant implements [Event].
func (e PurchasePaid) Tenant() string { return e.TenantCode }

// Validate implements [Event].
func (e PurchasePaid) Validate() error {
	return errors.Join(checkID("TenantCode", e.TenantCode), checkID("PurchaseID", e.PurchaseID))
}
