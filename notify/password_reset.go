package notify

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/retry"
)

// passwordResetData is what the view of the recovery shows.
type passwordResetData struct {
	identity
	Recipient string // empty for without a name
	Code      string
	CodeSize  int    // of its letters, in pixels
	Expiry    string // a moment; empty for none
}

// SendPasswordReset sends a recovery code while its attempt is pending, once
// for ever: its key is password-reset:{attempt_id}. An attempt that is no
// longer pending, or has expired by this process's clock, is skipped; one that
// expires while the e-mail waits for its turn is not sent either. What the
// error means is said in the package documentation.
func (s *MailService) SendPasswordReset(ctx context.Context, event PasswordResetRequested) error {
	if err := valid(event); err != nil {
		return err
	}
	tenant, err := s.tenant(ctx, event.TenantCode)
	if err != nil {
		return err
	}
	brand, err := accountBrand(event.TenantCode, tenant)
	if err != nil {
		return err
	}
	// The attempt comes last, since it is what changes within seconds.
	attempt, err := s.pendingReset(ctx, event)
	if err != nil {
		return err
	}
	to, err := recipient(attempt.User)
	if err != nil {
		return err
	}
	content, err := s.passwordReset.render(attempt.data(brand, to.Name, tenant.TimeZone))
	if err != nil {
		return err
	}
	if !attempt.ExpiresAt.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, attempt.ExpiresAt)
		defer cancel()
	}
	return s.send(ctx, email{
		tenant: event.TenantCode, kind: KindPasswordReset, key: []string{KindPasswordReset, event.AttemptID},
		from: brand.from(), replyTo: brand.replyTo(), to: to, content: content,
	})
}

// pendingReset loads an attempt, and returns a delivery.Skip when its code is
// of no use any more.
func (s *MailService) pendingReset(ctx context.Context, event PasswordResetRequested) (PasswordReset, error) {
	what := fmt.Sprintf("password reset attempt %q of tenant %q", event.AttemptID, event.TenantCode)
	attempt, err := s.config.PasswordResets.PasswordReset(ctx, event.TenantCode, event.AttemptID)
	switch {
	case err != nil:
		return PasswordReset{}, loaded(what, err)
	case !attempt.Pending:
		return PasswordReset{}, delivery.Skip("the attempt is no longer pending")
	case attempt.expired(time.Now()):
		return PasswordReset{}, delivery.Skip("the attempt has expired")
	}
	if err := attempt.Code.check(); err != nil {
		return PasswordReset{}, retry.Permanent(fmt.Errorf("notify: %s: %w", what, err))
	}
	return attempt, nil
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

func (r PasswordReset) data(brand Brand, recipient string, zone *time.Location) passwordResetData {
	data := passwordResetData{
		identity: identityOf(brand), Recipient: recipient, Code: string(r.Code), CodeSize: longCodeSize,
	}
	if utf8.RuneCountInString(data.Code) <= shortCode {
		data.CodeSize = shortCodeSize
	}
	if !r.ExpiresAt.IsZero() {
		data.Expiry = moment(r.ExpiresAt, zone)
	}
	return data
}

func passwordResetSamples() []passwordResetData {
	expiring := PasswordReset{Code: "483920", ExpiresAt: time.Date(2026, time.March, 19, 18, 4, 0, 0, time.UTC)}
	return []passwordResetData{
		expiring.data(sampleBrand(), "Ana", nil),
		PasswordReset{Code: "483920"}.data(Brand{Name: "Club"}, "", nil),
	}
}
