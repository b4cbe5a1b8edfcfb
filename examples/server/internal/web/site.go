package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/examples/server/internal/host"
	"github.com/buzon-go/buzon/notify"
)

// Config configures the pages. All fields are required, Sink apart.
type Config struct {
	Host    *host.Host
	Queue   *delivery.Queue
	Mailer  *mail.Mailer
	Service *notify.MailService

	// URL is that of the pages, with a slash at its end, as e-mails name it.
	URL string

	// Sink is where e-mails end up. Nil means that they go out for real.
	Sink *smtptest.Server

	// Previews shows what the e-mails look like, below /vista-previa/, which is
	// cut off the paths that it sees.
	Previews http.Handler

	// Metrics are shown at /metrics.
	Metrics prometheus.Gatherer
	// Ready returns nil when the server can do its work.
	Ready func(context.Context) error

	// Logger gets what a page cannot say to a stranger.
	Logger *slog.Logger
}

// A site is the handlers and what they need.
type site struct {
	Config
	views *views
}

// New returns the pages as one handler.
func New(config Config) (http.Handler, error) {
	if config.Host == nil || config.Queue == nil || config.Mailer == nil || config.Service == nil || config.URL == "" ||
		config.Previews == nil || config.Metrics == nil || config.Ready == nil || config.Logger == nil {
		return nil, errors.New("web: Host, Queue, Mailer, Service, URL, Previews, Metrics, Ready and Logger are required")
	}
	views, err := newViews()
	if err != nil {
		return nil, err
	}
	s := &site{Config: config, views: views}
	return s.protect(s.routes()), nil
}

func (s *site) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, handle := range map[string]handlerFunc{
		"GET /{$}":                         s.users,
		"POST /usuarios":                   s.signUp,
		"POST /usuarios/{id}/codigo":       s.requestReset,
		"POST /recuperaciones/{id}/anular": s.cancelReset,

		"GET /compras":                   s.purchases,
		"POST /compras":                  s.buy,
		"POST /compras/{id}/pagar":       s.pay,
		"POST /compras/{id}/anular":      s.annul,
		"GET /compras/{id}/entradas.pdf": s.ticketsPDF,

		"GET /fechas":                   s.dates,
		"GET /fechas/{id}/reprogramar":  s.askReschedule,
		"POST /fechas/{id}/reprogramar": s.reschedule,
		"GET /fechas/{id}/suspender":    s.askSuspend,
		"POST /fechas/{id}/suspender":   s.suspend,

		"GET /trabajos":                s.jobs,
		"POST /trabajos/{id}/ejecutar": s.retryJob,
		"POST /trabajos/{id}/cancelar": s.cancelJob,

		"GET /entregas":           s.deliveries,
		"POST /entregas/resolver": s.resolveDelivery,

		"GET /inbox":                  s.inbox,
		"GET /inbox/{n}":              s.message,
		"GET /inbox/{n}/html":         s.messageHTML,
		"GET /inbox/{n}/fuente":       s.messageSource,
		"GET /inbox/{n}/adjuntos/{i}": s.attachment,

		"GET /prueba":  s.askTest,
		"POST /prueba": s.sendTest,

		"GET /logos/{name}": s.logo,

		"GET /healthz": s.healthy,
		"GET /readyz":  s.ready,
		"/":            s.notFound,
	} {
		mux.Handle(pattern, s.handler(handle))
	}
	mux.Handle("GET /metrics", s.metrics())
	mux.Handle("GET /vista-previa/", http.StripPrefix("/vista-previa", s.Previews))
	return mux
}
