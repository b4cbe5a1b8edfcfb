package notify_test

import (
	"context"
	"errors"
	netmail "net/mail"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
)

// members is what a host has: its own tables.
type members struct{ pool *pgxpool.Pool }

func (m members) User(ctx context.Context, tenantCode, userID string) (notify.User, error) {
	var user notify.User
	err := m.pool.QueryRow(ctx, "SELECT name, email FROM members WHERE tenant = $1 AND id = $2", tenantCode, userID).
		Scan(&user.Name, &user.Email)
	return user, notFound(err)
}

func (m members) PasswordReset(ctx context.Context, tenantCode, attemptID string) (notify.PasswordReset, error) {
	var reset notify.PasswordReset
	err := m.pool.QueryRow(ctx, `SELECT m.name, m.email, a.code, a.used_at IS NULL, a.expires_at
		FROM reset_attempts a JOIN members m ON m.id = a.member_id WHERE m.tenant = $1 AND a.id = $2`, tenantCode, attemptID).
		Scan(&reset.User.Name, &reset.User.Email, (*string)(&reset.Code), &reset.Pending, &reset.ExpiresAt)
	return reset, notFound(err)
}

func (m members) Tenant(_ context.Context, code string) (notify.Tenant, error) {
	if code != "acme" {
		return notify.Tenant{}, notify.ErrNotFound
	}
	return notify.Tenant{Brand: view.Brand{
		Name: "Acme", PrimaryColor: "#0f766e", WebsiteURL: "https://acme.example/",
		From: netmail.Address{Address: "hola@acme.example"},
	}}, nil
}

func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return notify.ErrNotFound
	}
	return err
}

// The wiring, once at start: a runner that sends what is published.
func Example() {
	run := func(ctx context.Context, pool *pgxpool.Pool, queue *delivery.Queue, mailer *mail.Mailer) error {
		host := members{pool}
		service, err := notify.NewMailService(notify.MailServiceConfig{
			Mailer: mailer, Users: host, Tenants: host, PasswordResets: host,
		})
		if err != nil {
			return err
		}
		runner, err := delivery.NewRunner(queue, delivery.RunnerConfig{JobTypes: service.JobTypes()})
		if err != nil {
			return err
		}
		return runner.Run(ctx)
	}
	_ = run
}

// The event and the host's own rows: all of them, or none.
func ExampleOutbox_Publish() {
	register := func(ctx context.Context, pool *pgxpool.Pool, outbox *notify.Outbox, id, name, email string) error {
		return delivery.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "INSERT INTO members (tenant, id, name, email) VALUES ('acme', $1, $2, $3)", id, name, email)
			if err != nil {
				return err
			}
			return outbox.Publish(ctx, tx, notify.UserRegistered{TenantCode: "acme", UserID: id})
		})
	}
	_ = register
}
