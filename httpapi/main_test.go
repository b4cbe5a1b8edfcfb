package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"strings"
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
	"github.com/buzon-go/buzon/httpapi"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const (
	patience = 60 * time.Second
	tick     = 5 * time.Millisecond
)

// A house is the handler with all that is behind it, and the branch schemas
// "norte" and "sur".
type house struct {
	t       testing.TB
	pool    *pgxpool.Pool
	queue   *delivery.Queue
	mail    *smtptest.Server
	service *billingmail.Service
	server  *httptest.Server
	logs    *logs
}

func newHouse(t testing.TB) *house {
	t.Helper()
	h := &house{t: t, pool: pgtest.New(t), logs: &logs{}}
	log := slog.New(slog.NewJSONHandler(h.logs, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	h.mail, err = smtptest.NewServer(smtptest.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.mail.Close()) })
	transport, err := smtp.New(smtp.Config{
		Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: h.mail.Port(), TLS: smtp.Plaintext}), Logger: log,
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, transport.Close(context.WithoutCancel(t.Context()))) })
	h.queue, err = delivery.NewQueue(h.pool, delivery.QueueConfig{Logger: log})
	require.NoError(t, err)
	t.Cleanup(h.queue.Close)
	h.service, err = billingmail.New(billingmail.Config{Queue: h.queue, Sender: transport, Branches: branches{}, Connections: 1, Logger: log})
	require.NoError(t, err)
	handler, err := httpapi.New(httpapi.Config{Service: h.service, Authorize: authorize, MaxBody: 1000, Logger: log})
	require.NoError(t, err)
	h.server = httptest.NewServer(handler)
	t.Cleanup(h.server.Close)
	for _, schema := range []string{"norte", "sur"} {
		h.exec("CREATE SCHEMA " + schema)
		h.exec("CREATE TABLE " + schema + `.membresia_facturacion_lote_auditoria (id integer PRIMARY KEY, estado text, request_completo jsonb, detalles jsonb)`)
		_, err := migrations.UpBranch(t.Context(), h.pool, schema)
		require.NoError(t, err)
	}
	return h
}

func (h *house) exec(sql string, args ...any) {
	h.t.Helper()
	_, err := h.pool.Exec(h.t.Context(), sql, args...)
	require.NoError(h.t, err)
}

// addLote writes a lote of n members, numbered from 1.
func (h *house) addLote(schema string, id int, estado string, n int) {
	h.t.Helper()
	groups := []map[string]any{}
	for i := range n {
		groups = append(groups, map[string]any{"socio_id": i + 1, "nombre": fmt.Sprint("Socio ", i+1), "email": fmt.Sprintf("socio%d@members.example", i+1)})
	}
	encoded, err := json.Marshal(map[string]any{"gruposExitosos": groups})
	require.NoError(h.t, err)
	h.exec("INSERT INTO "+pgx.Identifier{schema, "membresia_facturacion_lote_auditoria"}.Sanitize()+" VALUES ($1, $2, '{}', $3::text::jsonb)", id, estado, string(encoded))
}

// run starts a runner until the test ends.
func (h *house) run() {
	h.t.Helper()
	runner, err := delivery.NewRunner(h.queue, delivery.RunnerConfig{
		JobTypes: []delivery.JobType{h.service.JobType()}, PollInterval: 20 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
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

func (h *house) awaitEnd(id int64) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		job, err := h.queue.GetJob(context.WithoutCancel(h.t.Context()), id)
		return err == nil && job.State.Final()
	}, patience, tick)
}

const lotes = "/mod-membresia/auditoria/lotes/"

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) into(t testing.TB, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(a.body, v), string(a.body))
}

// code returns the code of a problem.
func (a answer) code(t testing.TB) string {
	t.Helper()
	assert.Equal(t, "application/problem+json", a.header.Get("Content-Type"), string(a.body))
	var p struct {
		Status int
		Code   string
		Detail string
	}
	a.into(t, &p)
	assert.Equal(t, a.status, p.Status)
	assert.NotEmpty(t, p.Detail)
	return p.Code
}

type header map[string]string

// as is the header of a clerk of "norte".
var as = header{"X-Schema": "norte", "Authorization": "Bearer norte"}

func (h *house) ask(method, path string, headers header, body string) answer {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, h.server.URL+path, strings.NewReader(body))
	require.NoError(h.t, err)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(h.t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(h.t, err)
	return answer{response.StatusCode, response.Header, content}
}

// authorize knows a token for each schema, and one for all of them.
func authorize(r *http.Request, schema string) (httpapi.Principal, error) {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !found:
		return httpapi.Principal{}, fmt.Errorf("no token: %w", httpapi.ErrUnauthenticated)
	case token == "broken":
		return httpapi.Principal{}, errors.New("the session store at 10.0.0.7 is away")
	case token == "nobody":
		return httpapi.Principal{}, nil
	case token != "all" && token != schema:
		return httpapi.Principal{}, httpapi.ErrForbidden
	}
	return httpapi.Principal{Name: "clerk of " + schema}, nil
}

type branches struct{}

func (branches) Branch(_ context.Context, schema string) (billingmail.Branch, error) {
	return billingmail.Branch{Brand: view.Brand{Name: "Sucursal " + schema, From: netmail.Address{Address: "facturacion@club.example"}}}, nil
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
