package billingmail_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	netmail "net/mail"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
	"github.com/buzon-go/buzon/retry"
)

const (
	patience = 60 * time.Second
	tick     = 5 * time.Millisecond
)

// A house is everything from the database to the mail server, for one test, with
// the branch schema "norte".
type house struct {
	t       testing.TB
	pool    *pgxpool.Pool
	queue   *delivery.Queue
	server  *smtptest.Server
	service *billingmail.Service
	logs    *logs

	delay time.Duration // before each retry
	lease time.Duration // 0 means the default
}

func newHouse(t testing.TB, configure ...func(*billingmail.Config)) *house {
	t.Helper()
	return newHouseIn(t, pgx.QueryExecModeCacheStatement, configure...)
}

// newHouseIn runs statements in one of pgx's modes.
func newHouseIn(t testing.TB, mode pgx.QueryExecMode, configure ...func(*billingmail.Config)) *house {
	t.Helper()
	pool := pgtest.New(t, func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = mode })
	h := &house{t: t, pool: pool, logs: &logs{}}
	logger := slog.New(slog.NewJSONHandler(h.logs, nil))
	var err error
	h.server, err = smtptest.NewServer(smtptest.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.server.Close()) })
	transport, err := smtp.New(smtp.Config{
		Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: h.server.Port(), TLS: smtp.Plaintext}), Logger: logger,
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, transport.Close(context.WithoutCancel(t.Context()))) })
	h.queue, err = delivery.NewQueue(h.pool, delivery.QueueConfig{Logger: logger})
	require.NoError(t, err)
	t.Cleanup(h.queue.Close)
	config := billingmail.Config{Queue: h.queue, Sender: transport, Branches: branches{}, Logger: logger}
	for _, change := range configure {
		change(&config)
	}
	h.service, err = billingmail.New(config)
	require.NoError(t, err)
	h.addSchema("norte")
	return h
}

// addSchema creates a branch with its tables.
func (h *house) addSchema(schema string) {
	h.t.Helper()
	h.addBareSchema(schema)
	_, err := migrations.UpBranch(h.t.Context(), h.pool, schema)
	require.NoError(h.t, err)
}

// addBareSchema creates a branch with lotes, and no table of e-mail details.
func (h *house) addBareSchema(schema string) {
	h.t.Helper()
	name := pgx.Identifier{schema}.Sanitize()
	h.exec("CREATE SCHEMA " + name)
	h.exec("CREATE TABLE " + name + `.membresia_facturacion_lote_auditoria (
		id integer PRIMARY KEY, estado text, request_completo jsonb, detalles jsonb)`)
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	_, err := h.pool.Exec(h.t.Context(), sql, args...)
	require.NoError(h.t, err)
}

func (h *house) count(sql string, args ...any) int {
	h.t.Helper()
	var n int
	require.NoError(h.t, h.pool.QueryRow(h.t.Context(), sql, args...).Scan(&n))
	return n
}

// A group is one of gruposExitosos.
type group map[string]any

func member(id int) group {
	return group{
		"socio_id": id, "nombre": fmt.Sprint("Socio ", id), "email": fmt.Sprintf("socio%d@members.example", id),
		"comprobantes": []any{group{"tipo": "Factura", "numero": fmt.Sprintf("A-%04d", id), "importe": 1450.5, "moneda": "UYU", "vencimiento": "2026-12-10"}},
		"otra_clave":   true,
	}
}

func members(n int) []group {
	all := make([]group, n)
	for i := range all {
		all[i] = member(i + 1)
	}
	return all
}

// addLote writes a lote of a branch.
func (h *house) addLote(schema string, id int, estado string, request any, groups []group) {
	h.t.Helper()
	var details *string
	if groups != nil {
		encoded, err := json.Marshal(map[string]any{"gruposExitosos": groups})
		require.NoError(h.t, err)
		text := string(encoded)
		details = &text
	}
	encoded, err := json.Marshal(request)
	require.NoError(h.t, err)
	h.exec("INSERT INTO "+pgx.Identifier{schema, "membresia_facturacion_lote_auditoria"}.Sanitize()+
		" VALUES ($1, $2, $3::text::jsonb, $4::text::jsonb)", id, estado, string(encoded), details)
}

// run starts a runner, until the test ends or stop is called.
func (h *house) run(configure ...func(*delivery.RunnerConfig)) (stop func()) {
	h.t.Helper()
	config := delivery.RunnerConfig{
		JobTypes: []delivery.JobType{h.service.JobType()}, Retry: retryBy(h.t, quickly{h.delay}), PollInterval: 20 * time.Millisecond, Lease: h.lease,
		Logger: slog.New(slog.NewJSONHandler(h.logs, nil)),
	}
	for _, change := range configure {
		change(&config)
	}
	runner, err := delivery.NewRunner(h.queue, config)
	require.NoError(h.t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			assert.NoError(h.t, <-ended)
		})
	}
	h.t.Cleanup(stop)
	return stop
}

// retryBy has lotes retried by a strategy.
func retryBy(t testing.TB, strategy retry.RetryStrategyInterface) *retry.Registry {
	t.Helper()
	registry, err := retry.NewRegistry(nil)
	require.NoError(t, err)
	require.NoError(t, registry.Register(billingmail.JobTypeName, strategy))
	return registry
}

// quickly retries after a delay.
type quickly struct{ delay time.Duration }

func (q quickly) NextDelay(int) time.Duration { return q.delay }

func (quickly) ShouldRetry(attempt, maxRetries int) bool {
	return attempt < maxRetries
}

// resend starts a job for a whole lote of "norte".
func (h *house) resend(loteID int64, socios ...int64) billingmail.Resend {
	h.t.Helper()
	started, err := h.service.Resend(h.t.Context(), billingmail.ResendRequest{Schema: "norte", LoteID: loteID, SocioIDs: socios, RequestedBy: "clerk"})
	require.NoError(h.t, err)
	return started
}

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

func (h *house) awaitEnd(id int64) *delivery.Job {
	h.t.Helper()
	return h.await(id, func(j *delivery.Job) bool { return j.State.Final() })
}

// resumen returns the counts of a lote of "norte".
func (h *house) resumen(loteID int64) billingmail.Resumen {
	h.t.Helper()
	list, err := h.service.List(h.t.Context(), billingmail.ListRequest{Schema: "norte", LoteID: loteID})
	require.NoError(h.t, err)
	return list.Resumen
}

// entry returns the entry of a member.
func (h *house) entry(loteID, socioID int64) billingmail.EmailDetalle {
	h.t.Helper()
	list, err := h.service.List(h.t.Context(), billingmail.ListRequest{Schema: "norte", LoteID: loteID, Socio: socioID})
	require.NoError(h.t, err)
	require.Len(h.t, list.Entries, 1)
	return list.Entries[0]
}

// received counts the messages that the server has taken, by address.
func (h *house) received() map[string]int {
	h.t.Helper()
	got := map[string]int{}
	for _, message := range h.server.Messages() {
		for _, to := range message.To {
			got[to]++
		}
	}
	return got
}

// branches has every branch.
type branches struct{}

func (branches) Branch(_ context.Context, schema string) (billingmail.Branch, error) {
	return billingmail.Branch{Language: "es-UY", Brand: view.Brand{
		Name: "Sucursal " + schema, From: netmail.Address{Address: "facturacion@club.example"},
	}}, nil
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
