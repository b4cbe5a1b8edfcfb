package notifytest_test

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/notify/notifytest"
)

// A shop is a correct host on PostgreSQL, whose ids are numbers for users and
// texts for the rest.
type shop struct{ pool *pgxpool.Pool }

// connections is how many the shop's pool has: fewer than are asked for at once.
const connections = 2

func newShop(t *testing.T) shop {
	t.Helper()
	pool := pgtest.New(t, func(c *pgxpool.Config) { c.MaxConns = connections })
	_, err := pool.Exec(t.Context(), `
		CREATE TABLE tenants (code text PRIMARY KEY, name text, sender text);
		CREATE TABLE members (tenant text, id bigint, name text, email text, PRIMARY KEY (tenant, id));
		CREATE TABLE resets (tenant text, id text, member bigint, code text, used_at timestamptz, expires_at timestamptz, PRIMARY KEY (tenant, id));
		CREATE TABLE dates (tenant text, id text, name text, starts_at timestamptz, PRIMARY KEY (tenant, id));
		CREATE TABLE purchases (tenant text, id text COLLATE "C", member bigint, date text, total bigint, PRIMARY KEY (tenant, id));
		CREATE TABLE tickets (tenant text, purchase text, code text, date text, PRIMARY KEY (tenant, code));
		INSERT INTO tenants VALUES ('acme', 'Acme', 'hola@acme.example'), ('globex', 'Globex', 'hola@globex.example');
		INSERT INTO members VALUES ('acme', 7, 'Ana Pérez', 'ana@members.example'), ('globex', 8, 'Bruno', 'bruno@members.example');
		INSERT INTO resets VALUES ('acme', 'a1', 7, '483920', NULL, now() + interval '1 hour');
		INSERT INTO dates VALUES ('acme', 'd1', 'Noche de candombe', '2027-03-19 21:00-03');
		INSERT INTO purchases SELECT 'acme', 'p' || n, 7, 'd1', 240000 FROM generate_series(1, 5) n;
		INSERT INTO purchases VALUES ('acme', 'elsewhere', 7, 'd2', 1), ('globex', 'theirs', 8, 'd8', 1);
		INSERT INTO tickets VALUES ('acme', 'p1', 'BZN-0001', 'd1'), ('acme', 'p1', 'BZN-0002', 'd1')`)
	require.NoError(t, err)
	return shop{pool}
}

func (s shop) check() notifytest.Host {
	return notifytest.Host{
		Tenants: s, TenantCode: "acme", OtherTenantCode: "globex",
		Users: s, UserID: "7",
		PasswordResets: s, AttemptID: "a1",
		Purchases: s, PurchaseID: "p1", Tickets: s,
		EventDates: s, EventDateID: "d1", PurchaseIDs: []string{"p1", "p2", "p3", "p4", "p5"},
	}
}

// row reads one row by the tenant's code and ids. What cannot be part of a key
// is not asked for: the database refuses some of it.
func (s shop) row(ctx context.Context, sql string, args []any, into ...any) error {
	for _, arg := range args {
		if mail.CheckKeyPart(arg.(string)) != nil {
			return notify.ErrNotFound
		}
	}
	return notFound(s.pool.QueryRow(ctx, sql, args...).Scan(into...))
}

func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return notify.ErrNotFound
	}
	return err
}

func (s shop) Tenant(ctx context.Context, code string) (notify.Tenant, error) {
	var brand view.Brand
	err := s.row(ctx, `SELECT name, sender FROM tenants WHERE code = $1`, []any{code}, &brand.Name, &brand.From.Address)
	return notify.Tenant{Brand: brand}, err
}

func (s shop) User(ctx context.Context, tenantCode, userID string) (user notify.User, err error) {
	err = s.row(ctx, `SELECT name, email FROM members WHERE tenant = $1 AND id::text = $2`,
		[]any{tenantCode, userID}, &user.Name, &user.Email)
	return user, err
}

func (s shop) PasswordReset(ctx context.Context, tenantCode, attemptID string) (reset notify.PasswordReset, err error) {
	err = s.row(ctx, `SELECT m.name, m.email, r.code, r.used_at IS NULL, r.expires_at
		FROM resets r JOIN members m ON m.tenant = r.tenant AND m.id = r.member WHERE r.tenant = $1 AND r.id = $2`,
		[]any{tenantCode, attemptID},
		&reset.User.Name, &reset.User.Email, (*string)(&reset.Code), &reset.Pending, &reset.ExpiresAt)
	return reset, err
}

func (s shop) Purchase(ctx context.Context, tenantCode, purchaseID string) (notify.Purchase, error) {
	purchase := notify.Purchase{Total: view.Money{Currency: "UYU"}}
	err := s.row(ctx, `SELECT p.id, p.total, m.name, m.email
		FROM purchases p JOIN members m ON m.tenant = p.tenant AND m.id = p.member WHERE p.tenant = $1 AND p.id = $2`,
		[]any{tenantCode, purchaseID},
		&purchase.Number, &purchase.Total.Minor, &purchase.Buyer.Name, &purchase.Buyer.Email)
	return purchase, err
}

func (s shop) Tickets(ctx context.Context, tenantCode, purchaseID string) (notify.PurchaseTickets, error) {
	var none notify.PurchaseTickets
	if mail.CheckKeyPart(tenantCode) != nil || mail.CheckKeyPart(purchaseID) != nil {
		return none, notify.ErrNotFound
	}
	rows, err := s.pool.Query(ctx, `SELECT t.code, d.name, d.starts_at
		FROM tickets t JOIN dates d ON d.tenant = t.tenant AND d.id = t.date WHERE t.tenant = $1 AND t.purchase = $2 ORDER BY t.code`,
		tenantCode, purchaseID)
	if err != nil {
		return none, err
	}
	tickets, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (ticket notify.Ticket, err error) {
		err = row.Scan(&ticket.Code, &ticket.EventDate.Name, &ticket.EventDate.StartsAt)
		return ticket, err
	})
	return notify.PurchaseTickets{Tickets: tickets}, err
}

func (s shop) EventDate(ctx context.Context, tenantCode, eventDateID string) (date notify.EventDate, err error) {
	err = s.row(ctx, `SELECT name, starts_at FROM dates WHERE tenant = $1 AND id = $2`,
		[]any{tenantCode, eventDateID}, &date.Name, &date.StartsAt)
	return date, err
}

func (s shop) PurchaseIDs(ctx context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	return notify.Paged(after, func(after string) ([]string, error) {
		if mail.CheckKeyPart(tenantCode) != nil || mail.CheckKeyPart(eventDateID) != nil {
			return nil, notify.ErrNotFound
		}
		rows, err := s.pool.Query(ctx, `SELECT id FROM purchases WHERE tenant = $1 AND date = $2 AND id > $3 ORDER BY id LIMIT 2`,
			tenantCode, eventDateID, after)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(rows, pgx.RowTo[string])
	})
}

func TestAHostOnPostgreSQLPasses(t *testing.T) {
	t.Parallel()
	require.NoError(t, notifytest.Check(t.Context(), newShop(t).check()))
}

// trusting hands the database whatever it is asked for.
type trusting struct{ shop }

func (s trusting) User(ctx context.Context, tenantCode, userID string) (user notify.User, err error) {
	err = s.pool.QueryRow(ctx, `SELECT name, email FROM members WHERE tenant = $1 AND id::text = $2`, tenantCode, userID).
		Scan(&user.Name, &user.Email)
	return user, notFound(err)
}

func TestTextsThatPostgreSQLRefusesAreSeen(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	host := shop.check()
	host.Users = trusting{shop}
	err := notifytest.Check(t.Context(), host)
	require.ErrorContains(t, err, `Users.User("acme", "nul\x00nul") gives the error`)
	require.ErrorContains(t, err, `Users.User("acme", "\xff\xfe") gives the error`)
	require.ErrorContains(t, err, `Users.User("nul\x00nul", "7") gives the error`)
	require.NotContains(t, err.Error(), "''", "what the database takes is no fault")
}

// leaking leaves its rows open, and with them its connection, where it is left
// early.
type leaking struct {
	shop
	t *testing.T
}

func (s leaking) PurchaseIDs(ctx context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	if mail.CheckKeyPart(tenantCode) != nil || mail.CheckKeyPart(eventDateID) != nil {
		return func(func(string, error) bool) {}
	}
	return func(yield func(string, error) bool) {
		rows, err := s.pool.Query(ctx, `SELECT id FROM purchases WHERE tenant = $1 AND date = $2 AND id > $3 ORDER BY id`,
			tenantCode, eventDateID, after)
		if err != nil {
			yield("", err)
			return
		}
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil || !yield(id, nil) {
				s.t.Cleanup(rows.Close) // so that the test ends
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield("", err)
		}
	}
}

func TestConnectionsThatAreNotGivenBackAreSeen(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	host := shop.check()
	host.EventDates, host.Limit = leaking{shop, t}, brief
	err := notifytest.Check(t.Context(), host)
	require.ErrorContains(t, err, `EventDates.PurchaseIDs("acme", "d1", ""), left at its first id as 2 before it`)
	require.ErrorContains(t, err, "must be given back when it is left), did not return within")
}
