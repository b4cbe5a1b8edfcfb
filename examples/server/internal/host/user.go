package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/buzon-go/buzon/notify"
)

// User implements notify.Users: a listener loads the user when the e-mail is
// about to be sent, so that it says what is true by then.
func (h *Host) User(ctx context.Context, tenantCode, userID string) (notify.User, error) {
	id, err := parseID(userID)
	if err != nil {
		return notify.User{}, err
	}
	var user notify.User
	err = h.pool.QueryRow(ctx, `SELECT name, email, language FROM sample_host.users WHERE id = $1 AND tenant_code = $2`,
		id, tenantCode).Scan(&user.Name, &user.Email, &user.Language)
	return user, found(err)
}

// found translates an error of the database into what the library expects: a
// missing row is permanent, and so is an id that no text of the database could
// be; anything else may pass.
func found(err error) error {
	var pgErr *pgconn.PgError
	if isMissing(err) || errors.As(err, &pgErr) && pgErr.Code == codeNotText {
		return notify.ErrNotFound
	}
	return err
}

// codeNotText is the SQLSTATE for a NUL, or what is not UTF-8.
const codeNotText = "22021"

func isMissing(err error) bool { return errors.Is(err, pgx.ErrNoRows) }

// A ListedUser is a user as the page of users shows it.
type ListedUser struct {
	ID         int64
	TenantCode string
	Tenant     string // the name
	Name       string
	Email      string
	Language   string // BCP 47; empty for the tenant's
	CreatedAt  time.Time
	Reset      *ListedReset // the last attempt to recover the password; nil for none
}

// A ListedReset is an attempt to recover a password, without its code.
type ListedReset struct {
	ID          int64
	State       string // pending, cancelled, replaced
	RequestedAt time.Time
	ExpiresAt   time.Time
}

// Pending reports whether the attempt's code can still be used.
func (r ListedReset) Pending() bool { return r.State == "pending" && time.Now().Before(r.ExpiresAt) }

// listedUsers is how many users the page shows.
const listedUsers = 50

// ListUsers returns the newest users, the newest first.
func (h *Host) ListUsers(ctx context.Context) ([]ListedUser, error) {
	rows, err := h.pool.Query(ctx, `
		SELECT u.id, t.code, t.name, u.name, u.email, u.language, u.created_at, a.id, a.state, a.requested_at, a.expires_at
		FROM sample_host.users u
		JOIN sample_host.tenants t ON t.code = u.tenant_code
		LEFT JOIN LATERAL (
			SELECT * FROM sample_host.reset_attempts WHERE user_id = u.id ORDER BY id DESC LIMIT 1
		) a ON true
		ORDER BY u.id DESC LIMIT $1`, listedUsers)
	if err != nil {
		return nil, fmt.Errorf("host: list users: %w", err)
	}
	users, err := pgx.CollectRows(rows, scanListedUser)
	if err != nil {
		return nil, fmt.Errorf("host: list users: %w", err)
	}
	return users, nil
}

func scanListedUser(row pgx.CollectableRow) (ListedUser, error) {
	var user ListedUser
	var resetID *int64
	var state *string
	var requestedAt, expiresAt *time.Time
	err := row.Scan(&user.ID, &user.TenantCode, &user.Tenant, &user.Name, &user.Email, &user.Language, &user.CreatedAt, &resetID, &state, &requestedAt, &expiresAt)
	if err == nil && resetID != nil {
		user.Reset = &ListedReset{ID: *resetID, State: *state, RequestedAt: *requestedAt, ExpiresAt: *expiresAt}
	}
	return user, err
}
