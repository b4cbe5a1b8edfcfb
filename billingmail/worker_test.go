package billingmail_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/retry"
)

// Environment of a worker process: this test binary, run again.
const (
	envWorkerDatabase = "BUZON_TEST_WORKER_DATABASE"
	envWorkerPort     = "BUZON_TEST_WORKER_SMTP_PORT"
)

func TestMain(m *testing.M) {
	if database := os.Getenv(envWorkerDatabase); database != "" {
		if err := work(database); err != nil {
			slog.Error("worker", "error", err)
			os.Exit(1)
		}
		return
	}
	pgtest.Main(m)
}

// workerLease is short, since a killed worker's lote waits for its end.
const workerLease = 2 * time.Second

// work is a worker process: it runs until it is killed.
func work(database string) error {
	ctx := context.Background()
	log := slog.New(slog.DiscardHandler)
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(os.Getenv(envWorkerPort))
	if err != nil {
		return err
	}
	transport, err := smtp.New(smtp.Config{
		Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: port, TLS: smtp.Plaintext}), Logger: log,
	})
	if err != nil {
		return err
	}
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{Logger: log})
	if err != nil {
		return err
	}
	service, err := billingmail.New(billingmail.Config{Queue: queue, Sender: transport, Branches: branches{}, Connections: workerConnections, Logger: log})
	if err != nil {
		return err
	}
	registry, err := retry.NewRegistry(quickly{})
	if err != nil {
		return err
	}
	if err := registry.Register(billingmail.JobTypeName, quickly{}); err != nil {
		return err
	}
	runner, err := delivery.NewRunner(queue, delivery.RunnerConfig{
		JobTypes: []delivery.JobType{service.JobType()}, Retry: registry, Lease: workerLease, PollInterval: 20 * time.Millisecond, Logger: log,
	})
	if err != nil {
		return err
	}
	return errors.Join(runner.Run(ctx), errors.New("the runner has ended"))
}

const workerConnections = 4

// startWorker starts a process, which kill ends at once.
func (h *house) startWorker() (kill func()) {
	h.t.Helper()
	binary, err := os.Executable()
	require.NoError(h.t, err)
	cmd := exec.CommandContext(context.WithoutCancel(h.t.Context()), binary)
	cmd.Env = append(os.Environ(),
		envWorkerDatabase+"="+h.pool.Config().ConnString(), envWorkerPort+"="+strconv.Itoa(h.server.Port()))
	cmd.Stderr = os.Stderr
	require.NoError(h.t, cmd.Start())
	kill = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	h.t.Cleanup(kill)
	return kill
}

// A lote of a thousand, of whom 5 are refused for good and 20 at first, whose
// worker is killed twice: everybody has the e-mail, nobody else's is touched,
// and only what was under way at a kill can come twice.
func TestLoteSurvivesKilledWorkers(t *testing.T) {
	t.Parallel()
	const total = 1000
	h := newHouse(t)
	var rules []smtptest.Rule
	for i := range 5 {
		rules = append(rules, refuse(1+i*200, 550, "5.1.1", 0))
	}
	for i := range 20 {
		rules = append(rules, refuse(2+i*50, 451, "4.7.1", 1))
	}
	require.NoError(t, h.server.SetRules(rules...))
	h.addSchema("sur")
	h.addLote("norte", 7, "completado", nil, members(total))
	h.addLote("norte", 8, "completado", nil, members(3))
	h.addLote("sur", 7, "completado", nil, members(3))
	started := h.resend(7)
	for _, at := range []int{250, 600} {
		kill := h.startWorker()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := h.server.WaitForMessages(ctx, at)
		cancel()
		require.NoError(t, err)
		kill()
	}
	h.startWorker()
	job := h.awaitEnd(started.JobID)
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	assert.Equal(t, 1, job.RetryCount, "for the 20; a killed worker spends none")
	assert.Equal(t, billingmail.Resumen{Enviado: total - 5, Error: 5}, h.resumen(7))

	got, twice := h.received(), 0
	assert.Len(t, got, total-5)
	for address, n := range got {
		twice += n - 1
		assert.LessOrEqual(t, n, 3, address)
	}
	t.Logf("%d e-mails came twice", twice)
	// At each kill: a message for each connection, and the results on their way.
	assert.LessOrEqual(t, twice, 2*(workerConnections+200))
	for i := range 5 {
		assert.Zero(t, got[fmt.Sprintf("socio%d@members.example", 1+i*200)])
	}
	assert.Equal(t, billingmail.Resumen{}, h.resumen(8), "another lote")
	assert.Zero(t, h.count("SELECT count(*) FROM sur.membresia_facturacion_email_detalle"), "another schema")
}
