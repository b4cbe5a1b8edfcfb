package notifytest_test

import (
	"context"
	"iter"
	netmail "net/mail"
	"slices"
	"time"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/notify/notifytest"
)

// A memory is a correct host: tenant "acme" with user "7", attempt "a1",
// purchase "p1" with its tickets, and date "d1" with its purchases. Tenant
// "globex" has nothing but itself. It takes no notice of contexts.
type memory struct {
	tenants   map[string]notify.Tenant
	users     map[[2]string]notify.User
	resets    map[[2]string]notify.PasswordReset
	purchases map[[2]string]notify.Purchase
	tickets   map[[2]string]notify.PurchaseTickets
	dates     map[[2]string]notify.EventDate
	lists     map[[2]string][]string
}

func newMemory() *memory {
	user := notify.User{Name: "Ana Pérez", Email: "ana@members.example", Language: "es-UY"}
	date := notify.EventDate{Name: "Noche de candombe", StartsAt: time.Date(2027, time.March, 19, 21, 0, 0, 0, time.UTC)}
	purchase := notify.Purchase{Number: "A-1042", Buyer: user, Total: view.Money{Minor: 240_000, Currency: "UYU"}}
	return &memory{
		tenants: map[string]notify.Tenant{"acme": tenant("Acme"), "globex": tenant("Globex")},
		users:   map[[2]string]notify.User{{"acme", "7"}: user},
		resets: map[[2]string]notify.PasswordReset{{"acme", "a1"}: {
			User: user, Code: "483920", Pending: true, ExpiresAt: time.Now().Add(time.Hour),
		}},
		purchases: map[[2]string]notify.Purchase{
			{"acme", "p1"}: purchase, {"acme", "p2"}: purchase, {"acme", "p3"}: purchase, {"acme", "p4"}: purchase,
		},
		tickets: map[[2]string]notify.PurchaseTickets{{"acme", "p1"}: {Tickets: []notify.Ticket{
			{Code: "BZN-0001", EventDate: date}, {Code: "BZN-0002", EventDate: date},
		}}},
		dates: map[[2]string]notify.EventDate{{"acme", "d1"}: date},
		lists: map[[2]string][]string{{"acme", "d1"}: {"p1", "p2", "p3", "p4"}},
	}
}

func tenant(name string) notify.Tenant {
	return notify.Tenant{Brand: view.Brand{Name: name, From: netmail.Address{Address: "hola@" + name + ".example"}}}
}

// check returns what the kit is told of the host.
func (m *memory) check() notifytest.Host {
	return notifytest.Host{
		Tenants: m, TenantCode: "acme", OtherTenantCode: "globex",
		Users: m, UserID: "7",
		PasswordResets: m, AttemptID: "a1",
		Purchases: m, PurchaseID: "p1", Tickets: m,
		EventDates: m, EventDateID: "d1", PurchaseIDs: []string{"p1", "p2", "p3", "p4"},
	}
}

func find[K comparable, T any](from map[K]T, key K) (T, error) {
	found, ok := from[key]
	if !ok {
		return found, notify.ErrNotFound
	}
	return found, nil
}

func (m *memory) Tenant(_ context.Context, code string) (notify.Tenant, error) {
	return find(m.tenants, code)
}

func (m *memory) User(_ context.Context, tenantCode, userID string) (notify.User, error) {
	return find(m.users, [2]string{tenantCode, userID})
}

func (m *memory) PasswordReset(_ context.Context, tenantCode, attemptID string) (notify.PasswordReset, error) {
	return find(m.resets, [2]string{tenantCode, attemptID})
}

func (m *memory) Purchase(_ context.Context, tenantCode, purchaseID string) (notify.Purchase, error) {
	return find(m.purchases, [2]string{tenantCode, purchaseID})
}

func (m *memory) Tickets(_ context.Context, tenantCode, purchaseID string) (notify.PurchaseTickets, error) {
	return find(m.tickets, [2]string{tenantCode, purchaseID})
}

func (m *memory) EventDate(_ context.Context, tenantCode, eventDateID string) (notify.EventDate, error) {
	return find(m.dates, [2]string{tenantCode, eventDateID})
}

func (m *memory) PurchaseIDs(_ context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	return notify.Paged(after, func(after string) ([]string, error) {
		ids, err := find(m.lists, [2]string{tenantCode, eventDateID})
		rest := ids[slices.Index(ids, after)+1:]
		return rest[:min(len(rest), 2)], err
	})
}
