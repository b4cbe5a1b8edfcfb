package host

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/notify"
)

// codeLifetime is how long a recovery code is valid.
const codeLifetime = 30 * time.Minute

// RequestReset begins an attempt to recover a user's password, in place of an
// earlier one that is pending, and publishes that it did. The e-mail goes out
// after the delay: until then, cancelling the attempt keeps it from being sent.
// A user that does not exist is notify.ErrNotFound.
func (h *Host) RequestReset(ctx context.Context, userID int64, delay time.Duration) error {
	code, err := newCode()
	if err != nil {
		return fmt.Errorf("host: request reset: %w", err)
	}
	err = delivery.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		event, err := insertAttempt(ctx, tx, userID, code)
		if err != nil {
			return err
		}
		_, err = h.outbox.PublishJob(ctx, tx, event, publishAfter(delay))
		return err
	})
	if err != nil {
		return fmt.Errorf("host: request reset of user %d: %w", userID, err)
	}
	return nil
}

// insertAttempt returns the event that tells of the attempt.
func insertAttempt(ctx context.Context, tx pgx.Tx, userID int64, code string) (notify.PasswordResetRequested, error) {
	var event notify.PasswordResetRequested
	// Locked, so that of two requests at once one replaces the other.
	err := tx.QueryRow(ctx, `SELECT tenant_code FROM sample_host.users WHERE id = $1 FOR UPDATE`, userID).Scan(&event.TenantCode)
	if err != nil {
		return event, found(err)
	}
	_, err = tx.Exec(ctx, `UPDATE sample_host.reset_attempts SET state = 'replaced' WHERE user_id = $1 AND state = 'pending'`, userID)
	if err != nil {
		return event, err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO sample_host.reset_attempts (user_id, code, expires_at)
		VALUES ($1, $2, now() + make_interval(secs => $3)) RETURNING id`, userID, code, codeLifetime.Seconds()).Scan(&id)
	event.AttemptID = formatID(id)
	return event, err
}

// newCode returns six digits.
func newCode() (string, error) {
	n, err := rand.Int(rand.Reader, big.NewInt(1_000_000))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%06d", n), nil
}

// CancelReset withdraws an attempt. An e-mail that was not sent yet is not sent
// any more: the listener looks before it sends. An attempt that is not pending,
// or does not exist, is [ErrNotPending].
func (h *Host) CancelReset(ctx context.Context, attemptID int64) error {
	tag, err := h.pool.Exec(ctx,
		`UPDATE sample_host.reset_attempts SET state = 'cancelled' WHERE id = $1 AND state = 'pending'`, attemptID)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotPending
	}
	if err != nil {
		return fmt.Errorf("host: cancel reset attempt %d: %w", attemptID, err)
	}
	return nil
}

// PasswordReset implements notify.PasswordResets.
func (h *Host) PasswordReset(ctx context.Context, tenantCode, attemptID string) (notify.PasswordReset, error) {
	id, err := parseID(attemptID)
	if err != nil {
		return notify.PasswordReset{}, err
	}
	var attempt notify.PasswordReset
	var code string
	err = h.pool.QueryRow(ctx, `
		SELECT u.name, u.email, u.language, a.code, a.state = 'pending', a.expires_at
		FROM sample_host.reset_attempts a
		JOIN sample_host.users u ON u.id = a.user_id
		WHERE a.id = $1 AND u.tenant_code = $2`, id, tenantCode).
		Scan(&attempt.User.Name, &attempt.User.Email, &attempt.User.Language, &code, &attempt.Pending, &attempt.ExpiresAt)
	attempt.Code = notify.RecoveryCode(code)
	return attempt, found(err)
}
