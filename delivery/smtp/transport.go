package smtp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/retry"
)

var _ mail.Sender = (*Transport)(nil)

// ErrClosed is what Send returns, inside a *mail.SendError, after
// [Transport.Close].
var ErrClosed = errors.New("smtp: the transport is closed")

// A Transport sends messages through the SMTP integrations of their tenants. It
// implements mail.Sender and may be used by many goroutines at once.
type Transport struct {
	config  Config
	pools   *pools
	metrics *metrics
}

// New returns a transport. The error joins all faults of config and names each
// field. Nothing is dialled before the first Send.
func New(config Config) (*Transport, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	config = config.withDefaults()
	return &Transport{config: config, pools: newPools(config), metrics: newMetrics()}, nil
}

// Collector returns the transport's metrics, for the host to register. Their
// names begin with "buzon_smtp_"; no label holds a tenant, host or address.
func (t *Transport) Collector() prometheus.Collector { return t.metrics }

// Send implements mail.Sender; see there, and the package's documentation, for
// what is promised. Every error is a *mail.SendError.
//
// ctx bounds everything up to the final dot; when it ends after that, Send
// still waits for the reply for [Config.ReplyGrace].
func (t *Transport) Send(ctx context.Context, m *mail.Message, commit func(context.Context) error) (mail.Receipt, error) {
	began := time.Now()
	receipt, err := t.send(ctx, m, commit)
	t.metrics.finished(time.Since(began), err)
	return receipt, err
}

func (t *Transport) send(ctx context.Context, m *mail.Message, commit func(context.Context) error) (mail.Receipt, error) {
	message, err := prepare(m)
	if err != nil {
		return mail.Receipt{}, err
	}
	in, err := t.integration(ctx, m.Tenant)
	if err != nil {
		return mail.Receipt{}, err
	}
	visit, err := t.pools.enter(ctx, in)
	if err != nil {
		return mail.Receipt{}, err
	}
	defer visit.leave()

	if s := visit.take(); s != nil {
		t.metrics.reused.Inc()
		receipt, err := t.use(ctx, visit, s, message, commit)
		if !isStale(ctx, s, err) {
			return receipt, err
		}
		t.metrics.stale.Inc()
		t.log(ctx, "reused connection was dead, dialling", in, slog.Any("error", err))
	}
	s, err := t.dial(ctx, in)
	if err != nil {
		return mail.Receipt{}, err
	}
	return t.use(ctx, visit, s, message, commit)
}

// use sends a message on a session and gives the session back, also when commit
// panics.
func (t *Transport) use(
	ctx context.Context, visit *visit, s *session, m *outgoing, commit func(context.Context) error,
) (mail.Receipt, error) {
	defer visit.put(s)
	response, err := s.transmit(ctx, m, commit)
	return mail.Receipt{Response: response}, err
}

// isStale reports whether err, of a session that had been used before, only
// says that the session is no more: the server closed it while it was idle,
// closes it now (421), or is out of step. The server had not asked for the
// message yet, so commit was not called.
func isStale(ctx context.Context, s *session, err error) bool {
	failure, ok := errors.AsType[*mail.SendError](err)
	if !ok || !s.broken || ctx.Err() != nil {
		return false
	}
	switch failure.Phase {
	case mail.PhaseMail:
		// Some say 451 instead, such as Exchange when it has waited too long.
		return failure.Code/100 != 5
	case mail.PhaseRcpt, mail.PhaseData:
		return failure.Code == 421 || !reply{code: failure.Code}.negative()
	}
	return false
}

// integration finds and checks a tenant's integration.
func (t *Transport) integration(ctx context.Context, tenant string) (Integration, error) {
	in, err := t.config.Integrations.Integration(ctx, tenant)
	if err != nil {
		failure := &mail.SendError{
			Phase:     mail.PhaseCompose,
			Reach:     mail.ReachIntegration,
			Certainty: mail.NotAccepted,
			Temporary: !retry.IsPermanent(err),
			Err:       fmt.Errorf("integration of tenant %q: %w", tenant, err),
		}
		if ctx.Err() != nil {
			failure.Reach, failure.Temporary = mail.ReachMessage, true
		}
		return in, failure
	}
	if err := in.Validate(); err != nil {
		return in, &mail.SendError{
			Phase:     mail.PhaseCompose,
			Reach:     mail.ReachIntegration,
			Certainty: mail.NotAccepted,
			Err:       fmt.Errorf("integration of tenant %q: %w", tenant, err),
		}
	}
	return in, nil
}

func (t *Transport) dial(ctx context.Context, in Integration) (*session, error) {
	began := time.Now()
	s, err := dial(ctx, in, t.config, func() func() {
		t.metrics.open.Inc()
		t.log(ctx, "connection opened", in)
		return func() {
			t.metrics.open.Dec()
			t.log(context.WithoutCancel(ctx), "connection closed", in)
		}
	})
	if err != nil {
		return nil, err
	}
	t.metrics.opened.Inc()
	t.metrics.connect.Observe(time.Since(began).Seconds())
	return s, nil
}

func (t *Transport) log(ctx context.Context, message string, in Integration, attributes ...slog.Attr) {
	t.config.Logger.LogAttrs(ctx, slog.LevelDebug, "smtp: "+message,
		append(attributes, slog.String("server", in.address()))...)
}

// Close refuses further Sends, says goodbye on idle connections, and waits for
// the Sends that are going on, which their own contexts bound. When ctx ends
// first, Close returns its error and waits no longer; connections are still
// closed as their Sends end.
func (t *Transport) Close(ctx context.Context) error {
	if err := t.pools.close(ctx); err != nil {
		return fmt.Errorf("smtp: close: sends are still going on: %w", err)
	}
	return nil
}
