package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/examples/server/internal/host"
	"github.com/buzon-go/buzon/migrations"
	"github.com/buzon-go/buzon/notify"
)

// The parts of the library that this host uses.
type parts struct {
	host      *host.Host
	queue     *delivery.Queue
	mailer    *mail.Mailer
	transport *smtp.Transport
	runner    *delivery.Runner
	metrics   *prometheus.Registry
}

// wire puts the library together, in the order in which its parts need each
// other. It starts nothing.
func wire(ctx context.Context, pool *pgxpool.Pool, settings smtpSettings, log *slog.Logger) (*parts, error) {
	// The library's tables, in its own schema.
	if _, err := migrations.Up(ctx, pool, migrations.DefaultSchema); err != nil {
		return nil, err
	}
	// What the host publishes to.
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{Logger: log})
	if err != nil {
		return nil, err
	}
	outbox, err := notify.NewOutbox(queue)
	if err != nil {
		return nil, err
	}
	// The host itself: its tables, and the answers to what the library asks.
	own, err := host.New(host.Config{Pool: pool, Outbox: outbox, Mail: settings.integration, From: settings.from})
	if err != nil {
		return nil, err
	}
	if err := own.Migrate(ctx); err != nil {
		return nil, err
	}
	// The way of an e-mail, from the wire back to the event.
	transport, err := smtp.New(smtp.Config{Integrations: own, Logger: log})
	if err != nil {
		return nil, err
	}
	mailer, err := mail.NewMailer(pool, mail.MailerConfig{Sender: transport, HoldRecheck: 30 * time.Second, Logger: log})
	if err != nil {
		return nil, err
	}
	service, err := notify.NewMailService(notify.MailServiceConfig{
		Mailer: mailer, Users: own, Tenants: own, PasswordResets: own,
		// Two welcomes would look odd: where it is unknown whether one was
		// taken, somebody decides.
		OnUnknown: map[string]mail.UnknownPolicy{notify.KindWelcome: mail.Hold},
	})
	if err != nil {
		return nil, err
	}
	runner, err := delivery.NewRunner(queue, delivery.RunnerConfig{
		JobTypes:     service.JobTypes(),
		Housekeeping: []func(context.Context) error{mailer.Housekeeping},
		Logger:       log,
	})
	if err != nil {
		return nil, err
	}
	// A registry of the host's own: the library never touches the global one.
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(queue.Collector(), mailer.Collector(), transport.Collector(),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &parts{host: own, queue: queue, mailer: mailer, transport: transport, runner: runner, metrics: metrics}, nil
}

// ready returns nil when an event that is published now would be delivered.
func (p *parts) ready(ctx context.Context) error {
	if err := errors.Join(p.runner.Ready(ctx), p.mailer.Ready(ctx)); err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	return nil
}
