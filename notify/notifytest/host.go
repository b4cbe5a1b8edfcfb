package notifytest

import (
	"errors"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/notify"
)

// A Host is an implementation, and what it is known to hold. Interfaces that are
// nil are left out, as in notify.MailServiceConfig.
type Host struct {
	// Tenants finds the tenants, and TenantCode is of one that is there.
	// Required.
	Tenants    notify.Tenants
	TenantCode string

	// OtherTenantCode is of another that is there, in which nothing has the ids
	// below. Empty means that there is only one.
	OtherTenantCode string

	// Users finds the user UserID.
	Users  notify.Users
	UserID string

	// PasswordResets finds the attempt AttemptID.
	PasswordResets notify.PasswordResets
	AttemptID      string

	// Purchases and Tickets find the purchase PurchaseID, and its tickets. They
	// go together; a host without tickets gives notify.NoTickets.
	Purchases  notify.Purchases
	Tickets    notify.Tickets
	PurchaseID string

	// EventDates finds the date EventDateID and its purchases. It needs
	// Purchases.
	EventDates  notify.EventDates
	EventDateID string

	// PurchaseIDs is exactly what the list of the date's purchases must give, in
	// its order. nil means that only its form is checked.
	PurchaseIDs []string

	// Limit is how long a call may take, also one whose context has ended, and a
	// list to its end. Defaults to notify.DefaultLoadTimeout, which is the
	// library's own limit.
	Limit time.Duration
}

// validate returns what keeps the check from being made, naming the fields.
func (h Host) validate() error {
	var faults []error
	for _, field := range []struct {
		fault  string
		faulty bool
	}{
		{"Tenants is nil", h.Tenants == nil},
		{"OtherTenantCode is TenantCode", h.OtherTenantCode == h.TenantCode && h.TenantCode != ""},
		{"Tickets is nil; a host without tickets gives notify.NoTickets", h.Purchases != nil && h.Tickets == nil},
		{"Purchases is nil, which Tickets and EventDates need", h.Purchases == nil && (h.Tickets != nil || h.EventDates != nil)},
		{"Limit is negative", h.Limit < 0},
	} {
		if field.faulty {
			faults = append(faults, errors.New(field.fault))
		}
	}
	for _, field := range []struct {
		name, id string
		wanted   bool
	}{
		{"TenantCode", h.TenantCode, true},
		{"OtherTenantCode", h.OtherTenantCode, h.OtherTenantCode != ""},
		{"UserID", h.UserID, h.Users != nil},
		{"AttemptID", h.AttemptID, h.PasswordResets != nil},
		{"PurchaseID", h.PurchaseID, h.Purchases != nil},
		{"EventDateID", h.EventDateID, h.EventDates != nil},
	} {
		if !field.wanted {
			continue
		}
		if err := mail.CheckKeyPart(field.id); err != nil {
			faults = append(faults, fmt.Errorf("%s %.60q %w: no event could name it", field.name, field.id, err))
		}
	}
	return errors.Join(faults...)
}
