// Command ownkind shows a host's own kind of e-mail, from its event to the
// inbox: invoice.go and views are all that it takes. It starts a PostgreSQL and
// a mail server of its own, publishes the event twice, and prints the one e-mail
// that comes of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	netmail "net/mail"
	"os"
	"os/signal"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/postgres"
	"github.com/buzon-go/buzon/migrations"
	"github.com/buzon-go/buzon/notify"
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt)
	defer release()
	if err := run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ownkind:", err)
		os.Exit(1) //nolint:gocritic // Nothing is left that release would undo.
	}
}

// A host has one tenant and one invoice.
type host struct{}

func (host) Tenant(context.Context, string) (notify.Tenant, error) {
	return notify.Tenant{Language: "es-UY", Brand: view.Brand{Name: "Club Norte", From: netmail.Address{Address: "hola@club-norte.example"}}}, nil
}

func (host) User(context.Context, string, string) (notify.User, error) {
	return notify.User{}, notify.ErrNotFound
}

func (host) invoice(_ context.Context, event InvoiceReady, _ notify.Tenant) (notify.Email[Invoice], error) {
	return notify.Email[Invoice]{
		To:   notify.User{Name: "Ana Muñoz", Email: "ana@example.com"},
		Data: Invoice{Number: event.InvoiceID, Total: view.Money{Minor: 145_000, Currency: "UYU"}, DueAt: time.Date(2026, time.December, 10, 0, 0, 0, 0, time.UTC)},
	}, nil
}

// run does it all, and ends what it started.
func run(ctx context.Context, out io.Writer) (err error) {
	database, err := postgres.Start(ctx, postgres.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Stop(context.WithoutCancel(ctx))) }()
	pool, err := pgxpool.New(ctx, database.URL("postgres"))
	if err != nil {
		return err
	}
	defer pool.Close()
	inbox, err := smtptest.NewServer(smtptest.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, inbox.Close()) }()
	return deliver(ctx, pool, inbox, out)
}

// deliver wires the library, publishes, and waits for the e-mail.
func deliver(ctx context.Context, pool *pgxpool.Pool, inbox *smtptest.Server, out io.Writer) (err error) {
	log := slog.New(slog.DiscardHandler)
	if _, err := migrations.Up(ctx, pool, migrations.DefaultSchema); err != nil {
		return err
	}
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{Logger: log})
	if err != nil {
		return err
	}
	defer queue.Close()
	outbox, err := notify.NewOutbox(queue)
	if err != nil {
		return err
	}
	transport, err := smtp.New(smtp.Config{
		Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: inbox.Port(), TLS: smtp.Plaintext}), Logger: log,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, transport.Close(context.WithoutCancel(ctx))) }()
	mailer, err := mail.NewMailer(pool, mail.MailerConfig{Sender: transport, Logger: log})
	if err != nil {
		return err
	}
	service, err := notify.NewMailService(notify.MailServiceConfig{Mailer: mailer, Tenants: host{}, Users: host{}})
	if err != nil {
		return err
	}
	kind, err := newInvoiceKind(host{}.invoice)
	if err != nil {
		return err
	}
	invoices, err := kind.JobType(service)
	if err != nil {
		return err
	}
	runner, err := delivery.NewRunner(queue, delivery.RunnerConfig{JobTypes: append(service.JobTypes(), invoices), Logger: log})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- runner.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	return publishTwice(ctx, pool, queue, outbox, inbox, out)
}

func publishTwice(ctx context.Context, pool *pgxpool.Pool, queue *delivery.Queue, outbox *notify.Outbox, inbox *smtptest.Server, out io.Writer) error {
	for range 2 {
		var job delivery.Inserted
		err := delivery.BeginFunc(ctx, pool, func(tx pgx.Tx) (err error) {
			job, err = outbox.PublishJob(ctx, tx, InvoiceReady{"club-norte", "F-7"}, notify.PublishOptions{})
			return err
		})
		if err != nil {
			return err
		}
		if err := awaitEnd(ctx, queue, job.ID, out); err != nil {
			return err
		}
	}
	for _, message := range inbox.Messages() {
		parsed, err := message.Parse()
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\n%s\n\n%s", parsed.Subject, parsed.Text)
	}
	return nil
}

// awaitEnd looks at a job until it has ended.
func awaitEnd(ctx context.Context, queue *delivery.Queue, id int64, out io.Writer) error {
	for {
		job, err := queue.GetJob(ctx, id)
		if err != nil {
			return err
		}
		if job.State.Final() {
			fmt.Fprintf(out, "job %d: %s %s\n", job.ID, job.State, job.LastError)
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
