package notify_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"log/slog"
	netmail "net/mail"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/retry"
)

func TestMain(m *testing.M) {
	api.DisableConfigDir() // pdfcpu would write one to the home of whoever runs the tests
	pgtest.Main(m)
}

// patience is how long a test waits for what must come; it is not a measure.
const patience = 30 * time.Second

// tick is how often a test looks at what it waits for.
const tick = 5 * time.Millisecond

// lease is short, since whoever finds another's claim comes back after it.
const lease = 5 * time.Second

// A house is everything from the database to the mail server, for one test.
type house struct {
	t       testing.TB
	pool    *pgxpool.Pool
	queue   *delivery.Queue
	outbox  *notify.Outbox
	mailer  *mail.Mailer
	service *notify.MailService
	server  *smtptest.Server
	host    *host
	logs    *logs

	// Of the runner.
	only    []string           // the service's job types; empty for all
	more    []delivery.JobType // the host's own
	retries int                // what it allows; 0 means what the jobs do
	lease   time.Duration      // 0 means the default
}

// newHouse builds a house without a runner.
func newHouse(t testing.TB, configure ...func(*notify.MailServiceConfig)) *house {
	t.Helper()
	h := &house{t: t, pool: pgtest.New(t), host: newHost(), logs: &logs{}}
	logger := slog.New(slog.NewJSONHandler(h.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))

	var err error
	h.server, err = smtptest.NewServer(smtptest.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.server.Close()) })
	transport, err := smtp.New(smtp.Config{
		Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: h.server.Port(), TLS: smtp.Plaintext}),
		Logger:       logger,
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, transport.Close(context.WithoutCancel(t.Context()))) })

	h.queue, err = delivery.NewQueue(h.pool, delivery.QueueConfig{Logger: logger})
	require.NoError(t, err)
	t.Cleanup(h.queue.Close)
	h.outbox, err = notify.NewOutbox(h.queue)
	require.NoError(t, err)
	h.mailer, err = mail.NewMailer(h.pool, mail.MailerConfig{Sender: transport, Lease: lease, Logger: logger})
	require.NoError(t, err)

	config := notify.MailServiceConfig{
		Mailer: h.mailer, Outbox: h.outbox, Tenants: h.host, Users: h.host, PasswordResets: h.host,
		Purchases: h.host, Tickets: h.host, EventDates: h.host,
	}
	for _, change := range configure {
		change(&config)
	}
	h.service, err = notify.NewMailService(config)
	require.NoError(t, err)
	return h
}

// run starts a runner that is quick to notice things, until the test ends.
func (h *house) run() {
	h.t.Helper()
	registry, err := retry.NewRegistry(immediately{h.retries})
	require.NoError(h.t, err)
	runner, err := delivery.NewRunner(h.queue, delivery.RunnerConfig{
		JobTypes: h.jobTypes(), Retry: registry, PollInterval: 20 * time.Millisecond, Lease: h.lease,
		Logger: slog.New(slog.NewJSONHandler(h.logs, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	require.NoError(h.t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	h.t.Cleanup(func() {
		cancel()
		assert.NoError(h.t, <-ended)
	})
}

func (h *house) jobTypes() []delivery.JobType {
	all := slices.DeleteFunc(h.service.JobTypes(), func(jobType delivery.JobType) bool {
		return len(h.only) > 0 && !slices.Contains(h.only, jobType.Name)
	})
	return append(all, h.more...)
}

// publish commits one event and returns its job.
func (h *house) publish(event notify.Event) int64 {
	h.t.Helper()
	var inserted delivery.Inserted
	err := delivery.BeginFunc(h.t.Context(), h.pool, func(tx pgx.Tx) (err error) {
		inserted, err = h.outbox.PublishJob(h.t.Context(), tx, event, notify.PublishOptions{})
		return err
	})
	require.NoError(h.t, err)
	return inserted.ID
}

// await waits until the job is as wanted.
func (h *house) await(id int64, wanted func(*delivery.Job) bool) *delivery.Job {
	h.t.Helper()
	var job *delivery.Job
	require.Eventually(h.t, func() bool {
		var err error
		job, err = h.queue.GetJob(context.WithoutCancel(h.t.Context()), id)
		return err == nil && wanted(job)
	}, patience, tick, "job %d did not get there", id)
	return job
}

// awaitEnd waits until the job has ended.
func (h *house) awaitEnd(id int64) *delivery.Job {
	h.t.Helper()
	return h.await(id, func(j *delivery.Job) bool { return j.State.Final() })
}

// onlyMessage waits for a message and expects it to be the only one.
func (h *house) onlyMessage() (smtptest.Message, smtptest.Parsed) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	messages, err := h.server.WaitForMessages(ctx, 1)
	require.NoError(h.t, err)
	require.Len(h.t, messages, 1)
	parsed, err := messages[0].Parse()
	require.NoError(h.t, err)
	return messages[0], parsed
}

// count returns what a count(*) says.
func (h *house) count(sql string, args ...any) int {
	h.t.Helper()
	var n int
	require.NoError(h.t, h.pool.QueryRow(h.t.Context(), sql, args...).Scan(&n))
	return n
}

// jobs returns how many jobs there are, ended ones included.
func (h *house) jobs() int {
	h.t.Helper()
	return h.count(`SELECT (SELECT count(*) FROM buzon.outbox_jobs) + (SELECT count(*) FROM buzon.outbox_job_history)`)
}

// immediately retries without waiting: as often as it says, where that is not 0.
type immediately struct{ retries int }

func (immediately) NextDelay(int) time.Duration { return 0 }

func (i immediately) ShouldRetry(attempt, maxRetries int) bool {
	return attempt < cmp.Or(i.retries, maxRetries)
}

// logs collects what was logged.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A host answers for the host's data: tenant "acme" with user "7", attempt "a1",
// purchase "p1" with its tickets, and the dates "d1" and "d2".
type host struct {
	mu        sync.Mutex
	tenants   map[string]notify.Tenant
	users     map[string]notify.User
	resets    map[string]notify.PasswordReset
	purchases map[string]notify.Purchase
	tickets   map[string]notify.PurchaseTickets
	dates     map[string]notify.EventDate
	lists     map[string][]string // the purchases of dates
	faults    []error             // what the next answers are
}

const address = "ana@members.example"

func newHost() *host {
	user := notify.User{Name: "Ana Pérez", Email: address}
	return &host{
		tenants: map[string]notify.Tenant{"acme": {Brand: acmeBrand()}},
		users:   map[string]notify.User{"acme/7": user},
		resets: map[string]notify.PasswordReset{"acme/a1": {
			User: user, Code: "483920", Pending: true, ExpiresAt: time.Now().Add(time.Hour),
		}},
		purchases: map[string]notify.Purchase{"acme/p1": samplePurchase(user)},
		tickets:   map[string]notify.PurchaseTickets{"acme/p1": {Tickets: sampleTickets(2)}},
		dates:     map[string]notify.EventDate{"acme/d1": sampleDate(19), "acme/d2": sampleDate(26)},
		lists:     map[string][]string{"acme/d1": {"p1"}},
	}
}

func samplePurchase(buyer notify.User) notify.Purchase {
	return notify.Purchase{
		Number: "A-1042", Buyer: buyer,
		Items:  []notify.PurchaseItem{{Description: "Platea alta", Quantity: 2, Amount: view.Money{Minor: 240_000, Currency: "UYU"}}},
		Total:  view.Money{Minor: 240_000, Currency: "UYU"},
		PaidAt: time.Date(2026, time.March, 5, 15, 4, 0, 0, time.UTC), URL: "https://acme.example/compras/1042",
	}
}

// montevideo needs no time zone database.
var montevideo = time.FixedZone("America/Montevideo", -3*60*60)

func sampleDate(day int) notify.EventDate {
	return notify.EventDate{
		Name: "Noche de candombe", StartsAt: time.Date(2026, time.March, day, 21, 0, 0, 0, montevideo), TimeZone: montevideo,
		Venue: "Teatro de Verano", Address: "Rambla Wilson s/n", Notice: "Las entradas siguen valiendo.",
	}
}

func sampleTickets(n int) []notify.Ticket {
	tickets := make([]notify.Ticket, n)
	for i := range tickets {
		tickets[i] = notify.Ticket{
			Code: fmt.Sprintf("BZN-%04d", i+1), EventDate: sampleDate(19), Kind: "Platea alta", Seat: fmt.Sprint("Fila 4, asiento ", i+1),
			Holder: "Ana Muñoz", Price: view.Money{Minor: 120_000, Currency: "UYU"},
		}
	}
	return tickets
}

func acmeBrand() view.Brand {
	return view.Brand{
		Name: "Acme & Hijos", PrimaryColor: "#ffd400", WebsiteURL: "https://acme.example/inicio?a=1&b=2",
		From:         netmail.Address{Name: "Acme", Address: "hola@acme.example"},
		ReplyTo:      netmail.Address{Address: "respuestas@acme.example"},
		SupportEmail: "ayuda+web@acme.example", Footer: "Acme S.A.\nRUT 21 000000 0012",
	}
}

// set changes what the host answers.
func (h *host) set(change func(*host)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

func find[T any](h *host, from map[string]T, key string) (T, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var none T
	if len(h.faults) > 0 {
		fault := h.faults[0]
		h.faults = h.faults[1:]
		return none, fault
	}
	if found, ok := from[key]; ok {
		return found, nil
	}
	return none, notify.ErrNotFound
}

func (h *host) Tenant(_ context.Context, code string) (notify.Tenant, error) {
	return find(h, h.tenants, code)
}

func (h *host) User(_ context.Context, tenantCode, userID string) (notify.User, error) {
	return find(h, h.users, tenantCode+"/"+userID)
}

func (h *host) PasswordReset(_ context.Context, tenantCode, attemptID string) (notify.PasswordReset, error) {
	return find(h, h.resets, tenantCode+"/"+attemptID)
}

func (h *host) Purchase(_ context.Context, tenantCode, purchaseID string) (notify.Purchase, error) {
	return find(h, h.purchases, tenantCode+"/"+purchaseID)
}

func (h *host) Tickets(_ context.Context, tenantCode, purchaseID string) (notify.PurchaseTickets, error) {
	return find(h, h.tickets, tenantCode+"/"+purchaseID)
}

func (h *host) EventDate(_ context.Context, tenantCode, eventDateID string) (notify.EventDate, error) {
	return find(h, h.dates, tenantCode+"/"+eventDateID)
}

func (h *host) PurchaseIDs(_ context.Context, tenantCode, eventDateID, after string) iter.Seq2[string, error] {
	return notify.Paged(after, func(after string) ([]string, error) {
		ids, err := find(h, h.lists, tenantCode+"/"+eventDateID)
		next := 0
		if after != "" {
			next = slices.Index(ids, after) + 1
		}
		return ids[next:min(next+700, len(ids))], err
	})
}

var (
	paid        = notify.PurchasePaid{TenantCode: "acme", PurchaseID: "p1"}
	rescheduled = notify.EventDateRescheduled{TenantCode: "acme", SourceEventDateID: "d1", DestinationEventDateID: "d2"}
	suspended   = notify.EventDateSuspended{TenantCode: "acme", EventDateID: "d1"}
	registered  = notify.UserRegistered{TenantCode: "acme", UserID: "7"}
	requested   = notify.PasswordResetRequested{TenantCode: "acme", AttemptID: "a1"}
)
