package notify

import (
	"context"
	"time"
)

// Users finds the users of a tenant. The host implements it. The context is the
// job's, bounded by MailServiceConfig.LoadTimeout: it ends when the job is
// cancelled, or its runner stops.
type Users interface {
	// User returns a user as it is now, or [ErrNotFound].
	User(ctx context.Context, tenantCode, userID string) (User, error)
}

// PasswordResets finds the attempts to recover a password. The host implements
// it; the context is as that of [Users].
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

// Validate returns what is wrong with the attempt's code, which it does not
// repeat, or nil.
func (r PasswordReset) Validate() error { return r.Code.check() }
