package notify_test

import (
	"bytes"
	"context"
	"log/slog"
	netmail "net/mail"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/retry"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// patience is how long a test waits for what must come; it is not a measure.
const patience = 30 * time.Second

// lease is short, since whoever finds another's claim comes back after it.
const lease = 5 * time.Second

// A house is everything from the database to the mail server, for one test.
type house struct {
	t       *testing.T
	pool    *pgxpool.Pool
	queue   *delivery.Queue
	outbox  *notify.Outbox
	mailer  *mail.Mailer
	service *notify.MailService
	server  *smtptest.Server
	host    *host
	logs    *logs
}

// newHouse builds a house without a runner.
func newHouse(t *testing.T, configure ...func(*notify.MailServiceConfig)) *house {
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

	config := notify.MailServiceConfig{Mailer: h.mailer, Users: h.host, Tenants: h.host, PasswordResets: h.host}
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
	registry, err := retry.NewRegistry(immediately{})
	require.NoError(h.t, err)
	runner, err := delivery.NewRunner(h.queue, delivery.RunnerConfig{
		JobTypes: h.service.JobTypes(), Retry: registry, PollInterval: 20 * time.Millisecond,
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
	}, patience, 5*time.Millisecond, "job %d did not get there", id)
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

// immediately retries without waiting.
type immediately struct{}

func (immediately) NextDelay(int) time.Duration              { return 0 }
func (immediately) ShouldRetry(attempt, maxRetries int) bool { return attempt < maxRetries }

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

// A host answers for the host's data: tenant "acme" with user "7" and attempt
// "a1".
type host struct {
	mu      sync.Mutex
	tenants map[string]notify.Tenant
	users   map[string]notify.User
	resets  map[string]notify.PasswordReset
	faults  []error // what the next answers are
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
	}
}

func acmeBrand() notify.Brand {
	return notify.Brand{
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

var (
	registered = notify.UserRegistered{TenantCode: "acme", UserID: "7"}
	requested  = notify.PasswordResetRequested{TenantCode: "acme", AttemptID: "a1"}
)
