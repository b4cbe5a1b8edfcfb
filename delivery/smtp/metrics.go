package smtp

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/buzon-go/buzon/delivery/mail"
)

// metrics are the numbers of one transport.
type metrics struct {
	send    *prometheus.HistogramVec
	connect prometheus.Histogram
	results *prometheus.CounterVec
	opened  prometheus.Counter
	reused  prometheus.Counter
	stale   prometheus.Counter
	open    prometheus.Gauge
}

var _ prometheus.Collector = (*metrics)(nil)

// What became of a Send, as a label.
const (
	outcomeSent    = "sent"
	outcomeFailed  = "failed"
	outcomeUnknown = "unknown"
)

func newMetrics() *metrics {
	seconds := []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 600}
	return &metrics{
		send: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "buzon_smtp_send_duration_seconds",
			Help:    "How long sending a message took, the wait for a connection and the caller's commit included.",
			Buckets: seconds,
		}, []string{"outcome"}),
		connect: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "buzon_smtp_connect_duration_seconds",
			Help:    "How long it took until a new connection was ready for a message.",
			Buckets: seconds,
		}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "buzon_smtp_sends_total",
			Help: "Messages by outcome, the phase that decided it, how far a failure reaches, and the class of the server's reply.",
		}, []string{"outcome", "phase", "reach", "class"}),
		opened: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "buzon_smtp_connections_opened_total",
			Help: "Connections that were made ready for messages.",
		}),
		reused: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "buzon_smtp_connections_reused_total",
			Help: "Messages that began on a connection used before.",
		}),
		stale: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "buzon_smtp_connections_stale_total",
			Help: "Connections found dead when they were used again, and replaced.",
		}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "buzon_smtp_connections_open",
			Help: "Connections that are open now.",
		}),
	}
}

// finished counts a Send.
func (m *metrics) finished(took time.Duration, err error) {
	outcome, phase, reach, class := outcomeSent, mail.PhaseDot, mail.Reach(""), "2xx"
	if failure, ok := errors.AsType[*mail.SendError](err); ok {
		outcome, phase, reach, class = outcomeFailed, failure.Phase, failure.Reach, "none"
		if failure.Certainty == mail.Unknown {
			outcome = outcomeUnknown
		}
		if failure.Code != 0 {
			class = fmt.Sprintf("%dxx", failure.Code/100)
		}
	}
	m.send.WithLabelValues(outcome).Observe(took.Seconds())
	m.results.WithLabelValues(outcome, string(phase), string(reach), class).Inc()
}

func (m *metrics) all() []prometheus.Collector {
	return []prometheus.Collector{m.send, m.connect, m.results, m.opened, m.reused, m.stale, m.open}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(descriptions chan<- *prometheus.Desc) {
	for _, c := range m.all() {
		c.Describe(descriptions)
	}
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(values chan<- prometheus.Metric) {
	for _, c := range m.all() {
		c.Collect(values)
	}
}
