package notifytest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/text/language"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/notify"
)

// checkAccounts checks Tenants, Users and PasswordResets.
func (k *kit) checkAccounts(ctx context.Context) {
	codes := []string{k.host.TenantCode}
	if k.host.OtherTenantCode != "" {
		codes = append(codes, k.host.OtherTenantCode)
	}
	for _, code := range codes {
		k.tenants(code).run(ctx)
	}
	if k.host.Users != nil {
		k.users().run(ctx)
	}
	if k.host.PasswordResets != nil {
		k.passwordResets().run(ctx)
	}
}

func (k *kit) tenants(code string) *lookup[notify.Tenant] {
	return &lookup[notify.Tenant]{
		kit: k, method: "Tenants.Tenant", finds: "the tenant", args: []string{code},
		ask: func(ctx context.Context, args []string) (notify.Tenant, error) {
			return k.host.Tenants.Tenant(ctx, args[0])
		},
		check: notify.Tenant.Validate, differ: fieldsThatDiffer[notify.Tenant],
	}
}

func (k *kit) users() *lookup[notify.User] {
	return &lookup[notify.User]{
		kit: k, method: "Users.User", finds: "the user", args: []string{k.host.TenantCode, k.host.UserID},
		ask: func(ctx context.Context, args []string) (notify.User, error) {
			return k.host.Users.User(ctx, args[0], args[1])
		},
		check: checkUser, differ: fieldsThatDiffer[notify.User],
	}
}

func (k *kit) passwordResets() *lookup[notify.PasswordReset] {
	return &lookup[notify.PasswordReset]{
		kit: k, method: "PasswordResets.PasswordReset", finds: "the attempt", args: []string{k.host.TenantCode, k.host.AttemptID},
		ask: func(ctx context.Context, args []string) (notify.PasswordReset, error) {
			return k.host.PasswordResets.PasswordReset(ctx, args[0], args[1])
		},
		check: checkPasswordReset, differ: fieldsThatDiffer[notify.PasswordReset],
	}
}

// checkUser returns what keeps the user from getting an e-mail, or from getting
// it in a language that the host means. The error repeats no address.
func checkUser(user notify.User) error {
	var faults []error
	if _, err := mail.ParseAddress(user.Email); err != nil {
		faults = append(faults, fmt.Errorf("Email: %w: nothing would be sent", err))
	}
	if user.Language != "" {
		if _, err := language.Parse(user.Language); err != nil {
			faults = append(faults, fmt.Errorf("Language %.60q is no language tag (BCP 47): it would be passed over", user.Language))
		}
	}
	return errors.Join(faults...)
}

func checkPasswordReset(attempt notify.PasswordReset) error {
	var faults []error
	if !attempt.Pending {
		faults = append(faults, errors.New("Pending is false: nothing would be sent; give the kit an attempt that can still be used"))
	}
	if !attempt.ExpiresAt.IsZero() && !time.Now().Before(attempt.ExpiresAt) {
		faults = append(faults, fmt.Errorf("ExpiresAt is %s, which is past: nothing would be sent; a time that was kept without its zone is off by some hours",
			attempt.ExpiresAt.Format(time.RFC3339)))
	}
	return errors.Join(append(faults, within("User", checkUser(attempt.User)), tryCode(attempt.Code))...)
}

func within(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}
