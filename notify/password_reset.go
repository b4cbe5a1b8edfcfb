package notify

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/retry"
)

// PasswordResetData is what the view "password_reset" shows.
type PasswordResetData struct {
	Code      string
	CodeSize  int       // of its letters, in pixels, so that it fits a telephone
	ExpiresAt time.Time // in the tenant's zone; zero for never
}

// SendPasswordReset sends a recovery code while its attempt is pending, once
// for ever: its key is password-reset:{attempt_id}. An attempt that is no
// longer pending, or has expired by this process's clock, is skipped; one that
// expires while the e-mail waits for its turn is not sent either. What the
// error means is said in the package documentation.
func (s *MailService) SendPasswordReset(ctx context.Context, event PasswordResetRequested) error {
	return s.passwordReset.send(ctx, s, event)
}

func (s *MailService) passwordResetKind() Kind[PasswordResetRequested, PasswordResetData] {
	return Kind[PasswordResetRequested, PasswordResetData]{
		Name: KindPasswordReset, View: s.views.passwordReset, Account: true, OnUnknown: s.config.OnUnknown[KindPasswordReset],
		Key:  func(e PasswordResetRequested) []string { return []string{e.AttemptID} },
		Load: s.loadPasswordReset,
	}
}

// loadPasswordReset loads an attempt, and returns a delivery.Skip when its code
// is of no use any more.
func (s *MailService) loadPasswordReset(ctx context.Context, event PasswordResetRequested, tenant Tenant) (Email[PasswordResetData], error) {
	var none Email[PasswordResetData]
	if s.config.PasswordResets == nil {
		return none, retry.Permanent(errNoInterface("PasswordResets"))
	}
	what := fmt.Sprintf("password reset attempt %q of tenant %q", event.AttemptID, event.TenantCode)
	attempt, err := ask(ctx, s.config.LoadTimeout, what, func(ctx context.Context) (PasswordReset, error) {
		return s.config.PasswordResets.PasswordReset(ctx, event.TenantCode, event.AttemptID)
	})
	switch {
	case err != nil:
		return none, err
	case !attempt.Pending:
		return none, delivery.Skip("the attempt is no longer pending")
	case attempt.expired(time.Now()):
		return none, delivery.Skip("the attempt has expired")
	}
	if err := attempt.Validate(); err != nil {
		return none, retry.Permanent(fmt.Errorf("notify: %s: %w", what, err))
	}
	return Email[PasswordResetData]{To: attempt.User, Data: attempt.data(tenant), NotAfter: attempt.ExpiresAt}, nil
}

func (r PasswordReset) expired(now time.Time) bool {
	return !r.ExpiresAt.IsZero() && !now.Before(r.ExpiresAt)
}

// Sizes of the code's letters: short ones are read from afar, long ones must
// fit a telephone.
const (
	shortCode     = 8 // characters
	shortCodeSize = 32
	longCodeSize  = 20
)

func (r PasswordReset) data(tenant Tenant) PasswordResetData {
	data := PasswordResetData{Code: string(r.Code), CodeSize: longCodeSize, ExpiresAt: tenant.in(r.ExpiresAt)}
	if utf8.RuneCountInString(data.Code) <= shortCode {
		data.CodeSize = shortCodeSize
	}
	return data
}
