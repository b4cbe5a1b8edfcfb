package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/notify"
)

// A NewUser is what somebody signs up with.
type NewUser struct {
	TenantCode string // of one of [Host.ListTenants]
	Name       string
	Email      string
	Language   string // BCP 47; empty means the tenant's
}

// SignUp creates a user and publishes that it did: both are committed, or
// neither. An address that the tenant has already is [ErrEmailTaken], a tenant
// that does not exist notify.ErrNotFound.
func (h *Host) SignUp(ctx context.Context, user NewUser) error {
	// delivery.BeginFunc is pgx.BeginFunc that wakes the runner after the
	// commit.
	err := delivery.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		id, err := insertUser(ctx, tx, user)
		if err != nil {
			return err
		}
		return h.outbox.Publish(ctx, tx, notify.UserRegistered{TenantCode: user.TenantCode, UserID: formatID(id)})
	})
	if err != nil {
		return fmt.Errorf("host: sign up: %w", err)
	}
	return nil
}

// SQLSTATEs that say something about the form.
const (
	codeUniqueViolation     = "23505"
	codeForeignKeyViolation = "23503"
)

func insertUser(ctx context.Context, tx pgx.Tx, user NewUser) (id int64, err error) {
	err = tx.QueryRow(ctx, `
		INSERT INTO sample_host.users (tenant_code, name, email, language) VALUES ($1, $2, $3, $4) RETURNING id`,
		user.TenantCode, user.Name, user.Email, user.Language).Scan(&id)
	// The database's own error repeats the address; these do not.
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		switch pgErr.Code {
		case codeUniqueViolation:
			return 0, ErrEmailTaken
		case codeForeignKeyViolation:
			return 0, fmt.Errorf("tenant %q: %w", user.TenantCode, notify.ErrNotFound)
		}
	}
	return id, err
}
