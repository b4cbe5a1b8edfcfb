package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/retry"
)

// ErrNotFound is what a host returns, wrapped or not, for something that does
// not exist: the job fails at once, since no retry makes it exist. A host that
// reads from a replica should look at the primary before it says so. Any other
// error is retried.
var ErrNotFound = errors.New("not found")

// Users finds the users of a tenant. The host implements it. The context is the
// job's: it ends when the job is cancelled, or its runner stops.
type Users interface {
	// User returns a user as it is now, or [ErrNotFound].
	User(ctx context.Context, tenantCode, userID string) (User, error)
}

// A User is whom an e-mail is for.
type User struct {
	// Name is how to address the user. Empty means without a name.
	Name string
	// Email is the address. Empty, or one that cannot be used: nothing is
	// sent, and the job says why.
	Email string
}

// Tenants finds tenants. The host implements it; it is asked for every e-mail.
type Tenants interface {
	// Tenant returns a tenant as it is now, or [ErrNotFound].
	Tenant(ctx context.Context, code string) (Tenant, error)
}

// A Tenant is in whose name e-mails are sent.
type Tenant struct {
	// Brand is the tenant's own visual identity.
	Brand Brand
	// WebsiteType, where the tenant has one, gives account e-mails its
	// identity. May be nil.
	WebsiteType *WebsiteType
	// TimeZone is the one that times are told in. Nil means UTC.
	TimeZone *time.Location
}

// A WebsiteType is the kind of site that a tenant's users have their account
// on; several tenants may share one.
type WebsiteType struct {
	// Brand is its visual identity. Without a From address its e-mails have
	// the tenant's From and ReplyTo addresses: it is the tenant's SMTP
	// integration that sends them.
	Brand Brand
}

// PasswordResets finds the attempts to recover a password. The host implements
// it.
type PasswordResets interface {
	// PasswordReset returns an attempt as it is now, or [ErrNotFound].
	PasswordReset(ctx context.Context, tenantCode, attemptID string) (PasswordReset, error)
}

// A PasswordReset is an attempt to recover a password.
type PasswordReset struct {
	// User is who gets the code.
	User User
	// Code is what the user has to type in: 1 to 64 printable characters.
	Code RecoveryCode
	// Pending says that the code can still be used: it was neither used nor
	// withdrawn nor replaced by a newer one.
	Pending bool
	// ExpiresAt is when the code ends being valid; after it nothing is sent.
	// Zero means that it does not end by time.
	ExpiresAt time.Time
}

// loaded says what was to be loaded from the host, and whether to try again.
func loaded(what string, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("notify: load %s: %w", what, err)
	if errors.Is(err, ErrNotFound) {
		return retry.Permanent(err)
	}
	return err
}
