package mail_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"syscall"
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
)

// Environment of a worker process: this test binary, run again.
const (
	envWorkerDatabase = "BUZON_TEST_WORKER_DATABASE"
	envWorkerPort     = "BUZON_TEST_WORKER_SMTP_PORT"
	envWorkerPolicy   = "BUZON_TEST_WORKER_POLICY"
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

// work is a worker process: it runs until it is killed.
func work(database string) error {
	pool, err := pgxpool.New(context.Background(), database)
	if err != nil {
		return err
	}
	port, err := strconv.Atoi(os.Getenv(envWorkerPort))
	if err != nil {
		return err
	}
	transport, err := smtp.New(smtp.Config{
		Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: port, TLS: smtp.Plaintext}),
	})
	if err != nil {
		return err
	}
	d := welcome
	d.OnUnknown = mail.UnknownPolicy(os.Getenv(envWorkerPolicy))
	_, runner, err := newWorker(pool, transport, d)
	if err != nil {
		return err
	}
	return errors.Join(runner.Run(context.Background()), errors.New("the runner has ended"))
}

// newWorker returns a runner whose jobs of type "mail" send one delivery.
func newWorker(pool *pgxpool.Pool, sender mail.Sender, d mail.Delivery) (*mail.Mailer, *delivery.Runner, error) {
	log := slog.New(slog.DiscardHandler)
	mailer, err := mail.NewMailer(pool, mail.MailerConfig{Sender: sender, Lease: lease, HoldRecheck: time.Hour, Logger: log})
	if err != nil {
		return nil, nil, err
	}
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{Logger: log})
	if err != nil {
		return nil, nil, err
	}
	runner, err := delivery.NewRunner(queue, delivery.RunnerConfig{
		JobTypes: []delivery.JobType{{
			Name: "mail",
			Handler: delivery.HandlerFunc(func(ctx context.Context, _ *delivery.Job) error {
				_, err := mailer.Send(ctx, d, message())
				return err
			}),
		}},
		Lease: lease, PollInterval: 20 * time.Millisecond, Logger: log,
	})
	return mailer, runner, err
}

// startWorker runs a worker until the test ends.
func startWorker(t *testing.T, pool *pgxpool.Pool, sender mail.Sender, d mail.Delivery) *mail.Mailer {
	t.Helper()
	mailer, runner, err := newWorker(pool, sender, d)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return mailer
}

func newQueue(t *testing.T, pool *pgxpool.Pool) *delivery.Queue {
	t.Helper()
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{NoNotify: true})
	require.NoError(t, err)
	return queue
}

// publish commits a job that sends.
func publish(t *testing.T, pool *pgxpool.Pool, queue *delivery.Queue) int64 {
	t.Helper()
	var inserted delivery.Inserted
	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
		inserted, err = queue.Insert(t.Context(), tx, delivery.JobParams{Type: "mail", Tenant: "acme"})
		return err
	}))
	return inserted.ID
}

func awaitJob(t *testing.T, queue *delivery.Queue, id int64, wanted func(*delivery.Job) bool) *delivery.Job {
	t.Helper()
	var job *delivery.Job
	if !assert.Eventually(t, func() bool {
		var err error
		job, err = queue.GetJob(context.WithoutCancel(t.Context()), id)
		return err == nil && wanted(job)
	}, patience, 5*time.Millisecond) {
		require.FailNow(t, "the job did not get there", "%+v", job)
	}
	return job
}

// A worker process is killed while the server, which has taken the message,
// withholds its reply to the dot. After the lease another worker recovers the
// job; how many copies there are is the kind's policy.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	for _, policy := range []mail.UnknownPolicy{mail.Resend, mail.Hold} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			queue := newQueue(t, pool)
			hold := smtptest.NewHold()
			server := newServer(t, smtptest.Rule{At: smtptest.Dot, Times: 1, Hold: hold})
			d := welcome
			d.OnUnknown = policy
			id := publish(t, pool, queue)

			worker := exec.Command(os.Args[0], "-test.run=^$")
			worker.Env = append(os.Environ(), envWorkerDatabase+"="+pgtest.URL(pool),
				envWorkerPort+"="+strconv.Itoa(server.Port()), envWorkerPolicy+"="+string(policy))
			worker.Stderr = os.Stderr
			require.NoError(t, worker.Start())
			await(t, hold.Reached())
			require.NoError(t, worker.Process.Signal(syscall.SIGKILL))
			require.Error(t, worker.Wait())
			hold.Release()
			require.Equal(t, 1, server.Accepted())

			mailer := startWorker(t, pool, newTransport(t, server.Port()), d)
			if policy == mail.Resend {
				job := awaitJob(t, queue, id, func(j *delivery.Job) bool { return j.State == delivery.StateCompleted })
				assert.Zero(t, job.RetryCount, "a death spends no retry")
				record := status(t, mailer, d)
				assert.Equal(t, mail.StatusSent, record.Status)
				assert.Equal(t, 2, server.Copies(record.MessageID), "the same Message-ID on both")
				return
			}
			job := awaitJob(t, queue, id, func(j *delivery.Job) bool {
				return j.State == delivery.StatePending && j.LeaseNumber > 1 && isOnHold(mailer, d)
			})
			assert.Zero(t, job.RetryCount)
			assert.Equal(t, 1, server.Accepted())

			require.NoError(t, mailer.Resolve(t.Context(), d.Tenant, d.Key, mail.MarkSent, "ana", "the customer has it"))
			require.NoError(t, queue.RetryNow(t.Context(), id))
			awaitJob(t, queue, id, func(j *delivery.Job) bool { return j.State == delivery.StateCompleted })
			assert.Equal(t, 1, server.Accepted())
		})
	}
}

func isOnHold(mailer *mail.Mailer, d mail.Delivery) bool {
	record, err := mailer.GetDelivery(context.Background(), d.Tenant, d.Key)
	return err == nil && record.Status == mail.StatusUnknown
}
