package notify

import (
	"errors"

	"github.com/buzon-go/buzon/delivery"
)

// TypePasswordResetRequested is the job type of [PasswordResetRequested].
const TypePasswordResetRequested = "password_reset_requested"

// passwordResetRequestedVersion is the version of its payload.
const passwordResetRequestedVersion = 1

// PasswordResetRequested says that somebody wants to recover a password, who is
// sent the code while the attempt is pending.
type PasswordResetRequested struct {
	TenantCode string `json:"tenant_code"`
	AttemptID  string `json:"attempt_id"` // the attempt's id, never its code
}

// Type implements [Event].
func (PasswordResetRequested) Type() EventType {
	return EventType{
		JobType: TypePasswordResetRequested, Version: passwordResetRequestedVersion, Priority: delivery.PriorityHigh,
	}
}

// Tenant implements [Event].
func (e PasswordResetRequested) Tenant() string { return e.TenantCode }

// Validate implements [Event].
func (e PasswordResetRequested) Validate() error {
	return errors.Join(checkID("TenantCode", e.TenantCode), checkID("AttemptID", e.AttemptID))
}
