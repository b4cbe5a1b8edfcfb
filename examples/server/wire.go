package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/examples/internal/preview"
	"github.com/buzon-go/buzon/examples/server/internal/host"
	"github.com/buzon-go/buzon/migrations"
	"github.com/buzon-go/buzon/notify"
)

// The parts of the library that this host uses.
type parts struct {
	host      *host.Host
	queue     *delivery.Queue
	mailer    *mail.Mailer
	service   *notify.MailService
	transport *smtp.Transport
	runner    *delivery.Runner
	metrics   *prometheus.Registry
	previews  http.Handler
}

// wire puts the library together, in the order in which its parts need each
// other. It starts nothing. url is that of the pages.
func wire(ctx context.Context, pool *pgxpool.Pool, settings smtpSettings, url string, log *slog.Logger) (*parts, error) {
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
	own, err := host.New(host.Config{Pool: pool, Outbox: outbox, URL: url, Mail: settings.integration, From: settings.from})
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
	views, err := notify.NewViews(nil)
	if err != nil {
		return nil, err
	}
	service, err := notify.NewMailService(notify.MailServiceConfig{
		Mailer: mailer, Tenants: own, Users: own, PasswordResets: own,
		Purchases: own, Tickets: own, EventDates: own, Outbox: outbox, Views: views,
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
	previews, err := newPreviews(ctx, own, views)
	if err != nil {
		return nil, err
	}
	return &parts{
		host: own, queue: queue, mailer: mailer, service: service, transport: transport, runner: runner, metrics: metrics, previews: previews,
	}, nil
}

// newPreviews shows the e-mails in the identity of each tenant.
func newPreviews(ctx context.Context, own *host.Host, views *notify.Views) (http.Handler, error) {
	tenants, err := own.ListTenants(ctx)
	if err != nil {
		return nil, err
	}
	brands := make([]preview.Brand, len(tenants))
	for i, listed := range tenants {
		tenant, err := own.Tenant(ctx, listed.Code)
		if err != nil {
			return nil, err
		}
		brands[i] = preview.Brand{Name: listed.Name, Tenant: tenant}
	}
	return preview.Handler(views, brands...)
}

// ready returns nil when an event that is published now would be delivered.
func (p *parts) ready(ctx context.Context) error {
	if err := errors.Join(p.runner.Ready(ctx), p.mailer.Ready(ctx)); err != nil {
		return fmt.Errorf("not ready: %w", err)
	}
	return nil
}
