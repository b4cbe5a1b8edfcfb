package notifytest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/notify/notifytest"
)

// edit changes what a host has under a key.
func edit[K comparable, T any](from map[K]T, key K, change func(*T)) {
	value := from[key]
	change(&value)
	from[key] = value
}

func TestWhatAnEmailCannotBeMadeOf(t *testing.T) {
	t.Parallel()
	user := func(change func(*notify.User)) func(*memory) {
		return func(m *memory) { edit(m.users, [2]string{"acme", "7"}, change) }
	}
	reset := func(change func(*notify.PasswordReset)) func(*memory) {
		return func(m *memory) { edit(m.resets, [2]string{"acme", "a1"}, change) }
	}
	purchase := func(change func(*notify.Purchase)) func(*memory) {
		return func(m *memory) { edit(m.purchases, [2]string{"acme", "p1"}, change) }
	}
	tickets := func(change func(*notify.PurchaseTickets)) func(*memory) {
		return func(m *memory) { edit(m.tickets, [2]string{"acme", "p1"}, change) }
	}
	for name, test := range map[string]struct {
		change func(*memory)
		wants  string
	}{
		"a tenant without a name": {
			func(m *memory) { edit(m.tenants, "acme", func(t *notify.Tenant) { t.Brand.Name = "" }) },
			`Tenants.Tenant("acme") gives the tenant in a form that cannot be used: Brand: Name is empty`,
		},
		"the other tenant without a name": {
			func(m *memory) { edit(m.tenants, "globex", func(t *notify.Tenant) { t.Brand.Name = "" }) },
			`Tenants.Tenant("globex") gives the tenant in a form that cannot be used: Brand: Name is empty`,
		},
		"a user without an address": {
			user(func(u *notify.User) { u.Email = "" }),
			`Users.User("acme", "7") gives the user in a form that cannot be used: Email: the e-mail address is empty`,
		},
		"a user whose address is none": {
			user(func(u *notify.User) { u.Email = "ana members.example" }),
			`Email: the e-mail address cannot be parsed`,
		},
		"a user whose language is no tag": {
			user(func(u *notify.User) { u.Language = "Spanish (Uruguay)" }),
			`Language "Spanish (Uruguay)" is no language tag`,
		},
		"an attempt that is not pending": {
			reset(func(r *notify.PasswordReset) { r.Pending = false }),
			`PasswordResets.PasswordReset("acme", "a1") gives the attempt in a form that cannot be used: Pending is false`,
		},
		"an attempt that has expired": {
			reset(func(r *notify.PasswordReset) { r.ExpiresAt = time.Now().Add(-3 * time.Hour) }),
			`which is past`,
		},
		"an attempt of a user without an address": {
			reset(func(r *notify.PasswordReset) { r.User.Email = "" }),
			`User: Email: the e-mail address is empty`,
		},
		"a code that nobody could type in": {
			reset(func(r *notify.PasswordReset) { r.Code = " 483920" }),
			`Code begins or ends with white space`,
		},
		"a code that is not there": {
			reset(func(r *notify.PasswordReset) { r.Code = "" }),
			`Code is empty`,
		},
		"a purchase without a number": {
			purchase(func(p *notify.Purchase) { p.Number = "" }),
			`Purchases.Purchase("acme", "p1") gives the purchase in a form that cannot be used: Number is empty`,
		},
		"a purchase that was cancelled": {
			purchase(func(p *notify.Purchase) { p.Cancelled = true }),
			`Cancelled is true`,
		},
		"a purchase whose buyer has no address": {
			purchase(func(p *notify.Purchase) { p.Buyer.Email = "" }),
			`Buyer: Email: the e-mail address is empty`,
		},
		"a purchase without tickets": {
			tickets(func(p *notify.PurchaseTickets) { p.Tickets = nil }),
			`Tickets.Tickets("acme", "p1") gives the tickets in a form that cannot be used: there are none`,
		},
		"tickets without a code": {
			tickets(func(p *notify.PurchaseTickets) { p.Tickets[0].Code = "" }),
			`Tickets[0].Code`,
		},
		"a document that is none": {
			tickets(func(p *notify.PurchaseTickets) { p.Tickets, p.PDFs = nil, [][]byte{[]byte("no PDF")} }),
			`Tickets.Tickets("acme", "p1") gives tickets that no PDF can be made of`,
		},
		"a date without a name": {
			func(m *memory) {
				edit(m.dates, [2]string{"acme", "d1"}, func(d *notify.EventDate) { d.Name = "" })
			},
			`EventDates.EventDate("acme", "d1") gives the date in a form that cannot be used: Name is empty`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := newMemory()
			test.change(host)
			err := notifytest.Check(t.Context(), host.check())
			require.ErrorContains(t, err, test.wants)
			assert.NotContains(t, err.Error(), "members.example", "errors repeat no address")
			assert.NotContains(t, err.Error(), "483920", "errors repeat no code")
		})
	}
}

func TestWhatDiffersIsNamedAndNotRepeated(t *testing.T) {
	t.Parallel()
	host := newMemory()
	config := host.check()
	config.Users = &moving{memory: host}
	err := notifytest.Check(t.Context(), config)
	require.ErrorContains(t, err, "it differs in Name, Email")
	assert.NotContains(t, err.Error(), "members.example")
}

// moving gives its user another name and address once it was asked.
type moving struct {
	*memory
	asked bool
}

func (m *moving) User(ctx context.Context, tenantCode, userID string) (notify.User, error) {
	user, err := m.memory.User(ctx, tenantCode, userID)
	if err == nil && !m.asked {
		m.asked = true
		user.Name, user.Email = "Bruno", "bruno@members.example"
	}
	return user, err
}

func TestAHostThatTheKitCannotAsk(t *testing.T) {
	t.Parallel()
	host := newMemory()
	for name, test := range map[string]struct {
		change func(*notifytest.Host)
		wants  string
	}{
		"no tenants":          {func(h *notifytest.Host) { h.Tenants = nil }, "Tenants is nil"},
		"no tenant":           {func(h *notifytest.Host) { h.TenantCode = "" }, `TenantCode "" is empty: no event could name it`},
		"the tenant twice":    {func(h *notifytest.Host) { h.OtherTenantCode = "acme" }, "OtherTenantCode is TenantCode"},
		"no such other":       {func(h *notifytest.Host) { h.OtherTenantCode = "a:b" }, `OtherTenantCode "a:b" holds ':'`},
		"no user":             {func(h *notifytest.Host) { h.UserID = "" }, `UserID "" is empty`},
		"no attempt":          {func(h *notifytest.Host) { h.AttemptID = "" }, `AttemptID "" is empty`},
		"no purchase":         {func(h *notifytest.Host) { h.PurchaseID = "" }, `PurchaseID "" is empty`},
		"no date":             {func(h *notifytest.Host) { h.EventDateID = "" }, `EventDateID "" is empty`},
		"no tickets":          {func(h *notifytest.Host) { h.Tickets = nil }, "Tickets is nil"},
		"tickets of nothing":  {func(h *notifytest.Host) { h.Purchases, h.EventDates = nil, nil }, "Purchases is nil"},
		"dates of nothing":    {func(h *notifytest.Host) { h.Purchases, h.Tickets = nil, nil }, "Purchases is nil"},
		"less than no time":   {func(h *notifytest.Host) { h.Limit = -1 }, "Limit is negative"},
		"every fault is told": {func(h *notifytest.Host) { h.Limit, h.UserID = -1, "" }, "UserID"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := host.check()
			test.change(&config)
			require.ErrorContains(t, notifytest.Check(t.Context(), config), test.wants)
		})
	}
}

func TestAnEndedCheckSaysThatAndNothingElse(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := notifytest.Check(ctx, newMemory().check())
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "notifytest: the check was cut short: context canceled")
}

func TestACheckCanBeCutShort(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	host := saboteur{memory: newMemory(), method: "Purchases.Purchase"}
	host.do = func(context.Context, []string, func(...string) error) error {
		cancel()
		<-end
		return errBroken
	}
	config := host.check()
	config.Limit = time.Hour // nothing waits for the host
	err := notifytest.Check(ctx, config)
	require.EqualError(t, err, "notifytest: the check was cut short: context canceled")
}
