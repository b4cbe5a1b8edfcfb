package host_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/examples/server/internal/host"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/notify/notifytest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// newHost returns a host on the tables of a database.
func newHost(t *testing.T, pool *pgxpool.Pool) *host.Host {
	t.Helper()
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{})
	require.NoError(t, err)
	t.Cleanup(queue.Close)
	outbox, err := notify.NewOutbox(queue)
	require.NoError(t, err)
	h, err := host.New(host.Config{Pool: pool, Outbox: outbox, URL: "http://127.0.0.1:8080/"})
	require.NoError(t, err)
	require.NoError(t, h.Migrate(t.Context()))
	return h
}

// signUp returns the id of somebody new, of the club.
func signUp(t *testing.T, h *host.Host) int64 {
	t.Helper()
	require.NoError(t, h.SignUp(t.Context(), host.NewUser{TenantCode: "club-norte", Name: "Ana", Email: "ana@example.net", Language: "es"}))
	users, err := h.ListUsers(t.Context())
	require.NoError(t, err)
	return users[0].ID
}

// clubDate returns the club's next date.
func clubDate(t *testing.T, h *host.Host) host.ListedDate {
	t.Helper()
	dates, err := h.ListDates(t.Context())
	require.NoError(t, err)
	next := slices.IndexFunc(dates, func(d host.ListedDate) bool { return d.TenantCode == "club-norte" && d.Scheduled() })
	require.GreaterOrEqual(t, next, 0)
	return dates[next]
}

// buy returns the ids of purchases that are still to be paid.
func buy(t *testing.T, h *host.Host, n int) []int64 {
	t.Helper()
	user, date := signUp(t, h), clubDate(t, h)
	ids := make([]int64, n)
	for i := range ids {
		require.NoError(t, h.Buy(t.Context(), host.NewPurchase{UserID: user, EventDateID: date.ID, Seats: 2}))
		purchases, err := h.ListPurchases(t.Context())
		require.NoError(t, err)
		ids[i] = purchases[0].ID
	}
	return ids
}

// listed returns the purchases to write to about a date.
func listed(t *testing.T, h *host.Host, date int64) (ids []string) {
	t.Helper()
	for id, err := range h.PurchaseIDs(t.Context(), "club-norte", strconv.FormatInt(date, 10), "") {
		require.NoError(t, err)
		ids = append(ids, id)
	}
	return ids
}

func TestHostIsAsTheLibraryNeedsIt(t *testing.T) {
	t.Parallel()
	h := newHost(t, pgtest.New(t))
	var ids []string
	for _, id := range buy(t, h, 3) {
		require.NoError(t, h.Pay(t.Context(), id, 0))
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	require.NoError(t, h.RequestReset(t.Context(), 1, 0))
	assert.NoError(t, notifytest.Check(t.Context(), notifytest.Host{
		Tenants: h, TenantCode: "club-norte", OtherTenantCode: "teatro-sur",
		Users: h, UserID: "1",
		PasswordResets: h, AttemptID: "1",
		Purchases: h, PurchaseID: ids[0], Tickets: h,
		EventDates: h, EventDateID: strconv.FormatInt(clubDate(t, h).ID, 10), PurchaseIDs: ids,
	}))
}

// The list is read in pages, and holds who has paid.
func TestLongListOfPurchases(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	h := newHost(t, pool)
	date := clubDate(t, h).ID
	_, err := pool.Exec(t.Context(), `
		INSERT INTO sample_host.purchases (user_id, event_date_id, seats, total, currency, state)
		SELECT $1, $2, 0, 0, 'UYU', (ARRAY['paid', 'pending', 'cancelled'])[n % 3 + 1] FROM generate_series(1, 3600) n`, signUp(t, h), date)
	require.NoError(t, err)
	paid := listed(t, h, date)
	require.Len(t, paid, 1200)

	require.NoError(t, h.Reschedule(t.Context(), date, time.Now().AddDate(1, 0, 0), ""))
	assert.Equal(t, paid, listed(t, h, date), "of a date that was, who stood on it")
	destination := clubDateAfter(t, h, date)
	assert.Equal(t, paid, listed(t, h, destination))
	require.NoError(t, h.Reschedule(t.Context(), destination, time.Now().AddDate(2, 0, 0), ""))
	assert.Equal(t, paid, listed(t, h, date), "also when they have moved on")
}

// clubDateAfter returns the date that took another's place: the newest one.
func clubDateAfter(t *testing.T, h *host.Host, source int64) (newest int64) {
	t.Helper()
	dates, err := h.ListDates(t.Context())
	require.NoError(t, err)
	for _, date := range dates {
		newest = max(newest, date.ID)
	}
	require.Greater(t, newest, source)
	return newest
}

// Who pays while a date is moved or suspended is either told of it or has not
// paid; nobody waits for somebody who waits for them.
func TestPaymentsRaceWithTheDate(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*host.Host, int64) error{
		"rescheduled": func(h *host.Host, date int64) error {
			return h.Reschedule(t.Context(), date, time.Now().AddDate(1, 0, 0), "")
		},
		"suspended": func(h *host.Host, date int64) error { return h.Suspend(t.Context(), date, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			h := newHost(t, pool)
			ids, date := buy(t, h, 8), clubDate(t, h).ID
			results := make(chan error, len(ids))
			for _, id := range ids {
				go func() { results <- h.Pay(t.Context(), id, 0) }()
			}
			require.NoError(t, end(h, date))
			paid := 0
			for range ids {
				if err := <-results; err != nil {
					assert.ErrorIs(t, err, host.ErrNotPayable)
					continue
				}
				paid++
			}
			var told, events, tickets, seats int
			require.NoError(t, pool.QueryRow(t.Context(), `
				SELECT (SELECT count(*) FROM buzon.outbox_jobs WHERE job_type = 'purchase_paid'),
					(SELECT count(*) FROM sample_host.tickets), (SELECT count(DISTINCT seat) FROM sample_host.tickets),
					(SELECT count(*) FROM sample_host.purchases WHERE state = 'paid')`).Scan(&events, &tickets, &seats, &told))
			assert.Equal(t, paid, told)
			assert.Equal(t, paid, events, "an event for each payment, and none for one that failed")
			assert.Equal(t, 2*paid, tickets)
			assert.Equal(t, 2*paid, seats, "a seat is sold once")
			assert.LessOrEqual(t, len(listed(t, h, date)), paid)
		})
	}
}

// A purchase is paid once, however often somebody clicks.
func TestPurchaseIsPaidOnce(t *testing.T) {
	t.Parallel()
	h := newHost(t, pgtest.New(t))
	id := buy(t, h, 1)[0]
	results := make(chan error)
	for range 4 {
		go func() { results <- h.Pay(t.Context(), id, 0) }()
	}
	paid := 0
	for range 4 {
		if err := <-results; err == nil {
			paid++
		} else {
			assert.ErrorIs(t, err, host.ErrNotPayable)
		}
	}
	assert.Equal(t, 1, paid)
	tickets, err := h.Tickets(t.Context(), "club-norte", strconv.FormatInt(id, 10))
	require.NoError(t, err)
	assert.Len(t, tickets.Tickets, 2)
}

func TestWhatCannotBeBought(t *testing.T) {
	t.Parallel()
	h := newHost(t, pgtest.New(t))
	user, date := signUp(t, h), clubDate(t, h).ID
	dates, err := h.ListDates(t.Context())
	require.NoError(t, err)
	other := slices.IndexFunc(dates, func(d host.ListedDate) bool { return d.TenantCode != "club-norte" })
	require.NoError(t, h.Suspend(t.Context(), date, ""))
	for name, purchase := range map[string]host.NewPurchase{
		"a date of another tenant": {UserID: user, EventDateID: dates[other].ID},
		"a date that is off":       {UserID: user, EventDateID: date},
		"no date":                  {UserID: user, EventDateID: 999},
		"nobody":                   {UserID: 999, EventDateID: dates[other].ID},
	} {
		assert.ErrorIs(t, h.Buy(t.Context(), purchase), host.ErrNotForSale, name)
	}
	assert.ErrorIs(t, h.Suspend(t.Context(), date, ""), host.ErrNotScheduled)
	assert.ErrorIs(t, h.Reschedule(t.Context(), date, time.Now(), ""), host.ErrNotScheduled)
}
