package notifytest_test

import (
	"context"
	"iter"

	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/notify/notifytest"
)

// A saboteur is a correct host, but for what it does to the calls of one method.
type saboteur struct {
	*memory
	method string
	do     sabotage
}

// A sabotage stands between a call and its answer. answer asks the correct host
// what it is told to; where it is not called, the answer is empty.
type sabotage func(ctx context.Context, args []string, answer func(args ...string) error) error

// methods are those of the host's interfaces, with what they are asked for.
var methods = map[string][]string{
	"Tenants.Tenant":               {"acme"},
	"Users.User":                   {"acme", "7"},
	"PasswordResets.PasswordReset": {"acme", "a1"},
	"Purchases.Purchase":           {"acme", "p1"},
	"Tickets.Tickets":              {"acme", "p1"},
	"EventDates.EventDate":         {"acme", "d1"},
	"EventDates.PurchaseIDs":       {"acme", "d1", ""},
}

func (s saboteur) check() notifytest.Host {
	host := s.memory.check()
	host.Tenants, host.Users, host.PasswordResets, host.Purchases, host.Tickets, host.EventDates = s, s, s, s, s, s
	return host
}

func through[T any](ctx context.Context, s saboteur, method string, ask func(args []string) (T, error), args ...string) (found T, err error) {
	if method != s.method {
		return ask(args)
	}
	err = s.do(ctx, args, func(args ...string) (err error) {
		found, err = ask(args)
		return err
	})
	return found, err
}

func (s saboteur) Tenant(ctx context.Context, code string) (notify.Tenant, error) {
	return through(ctx, s, "Tenants.Tenant", func(args []string) (notify.Tenant, error) {
		return s.memory.Tenant(ctx, args[0])
	}, code)
}

func (s saboteur) User(ctx context.Context, tenantCode, userID string) (notify.User, error) {
	return through(ctx, s, "Users.User", func(args []string) (notify.User, error) {
		return s.memory.User(ctx, args[0], args[1])
	}, tenantCode, userID)
}

func (s saboteur) PasswordReset(ctx context.Context, tenantCode, attemptID string) (notify.PasswordReset, error) {
	return through(ctx, s, "PasswordResets.PasswordReset", func(args []string) (notify.PasswordReset, error) {
		return s.memory.PasswordReset(ctx, args[0], args[1])
	}, tenantCode, attemptID)
}

func (s saboteur) Purchase(ctx context.Context, tenantCode, purchaseID string) (notify.Purchase, error) {
	return through(ctx, s, "Purchases.Purchase", func(args []string) (notify.Purchase, error) {
		return s.memory.Purchase(ctx, args[0], args[1])
	}, tenantCode, purchaseID)
}

func (s saboteur) Tickets(ctx context.Context, tenantCode, purchaseID string) (notify.PurchaseTickets, error) {
	return through(ctx, s, "Tickets.Tickets", func(args []string) (notify.PurchaseTickets, error) {
		return s.memory.Tickets(ctx, args[0], args[1])
	}, tenantCode, purchaseID)
}

func (s saboteur) EventDate(ctx context.Context, tenantCode, eventDateID string) (notify.EventDate, error) {
	return through(ctx, s, "EventDates.EventDate", func(args []string) (notify.EventDate, error) {
		return s.memory.EventDate(ctx, args[0], args[1])
	}, tenantCode, eventDateID)
}

// PurchaseIDs does its harm when the list is read.
func (s saboteur) PurchaseIDs(ctx context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		ids, err := through(ctx, s, "EventDates.PurchaseIDs", func(args []string) (iter.Seq2[string, error], error) {
			var failed error
			for _, err := range s.memory.PurchaseIDs(ctx, args[0], args[1], args[2]) {
				failed = err
			}
			return s.memory.PurchaseIDs(ctx, args[0], args[1], args[2]), failed
		}, tenantCode, eventDateID, after)
		switch {
		case err != nil:
			yield("", err)
		case ids != nil:
			ids(yield)
		}
	}
}
