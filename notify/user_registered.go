package notify

import (
	"errors"

	"github.com/buzon-go/buzon/delivery"
)

// TypeUserRegistered is the job type of [UserRegistered].
const TypeUserRegistered = "user_registered"

// userRegisteredVersion is the version of its payload.
const userRegisteredVersion = 1

// UserRegistered says that a user has an account now, who is sent the welcome.
type UserRegistered struct {
	TenantCode string `json:"tenant_code"`
	UserID     string `json:"user_id"`
}

// Type implements [Event].
func (UserRegistered) Type() EventType {
	return EventType{JobType: TypeUserRegistered, Version: userRegisteredVersion, Priority: delivery.PriorityHigh}
}

// Tenant implements [Event].
func (e UserRegistered) Tenant() string { return e.TenantCode }

// Validate implements [Event].
func (e UserRegistered) Validate() error {
	return errors.Join(checkID("TenantCode", e.TenantCode), checkID("UserID", e.UserID))
}
