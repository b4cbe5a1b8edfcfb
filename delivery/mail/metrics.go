package mail

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// An outcome is how one call of Send ended, as a metric's label.
type outcome string

const (
	outcomeSent        outcome = "sent"
	outcomeAlreadySent outcome = "already_sent"
	outcomeFailed      outcome = "failed"     // not taken by the server
	outcomeUnknown     outcome = "unknown"    // dot written, no reply
	outcomeOnHold      outcome = "on_hold"    // unknown before, and waiting for an operator
	outcomeBusy        outcome = "busy"       // another worker has the claim
	outcomeClaimLost   outcome = "claim_lost" // the claim ended before the dot
	outcomeError       outcome = "error"      // not tried: the database could not be used, or the caller had given up
)

// stats are the counters of a mailer.
type stats struct {
	deliveries   *prometheus.CounterVec
	recordErrors prometheus.Counter
}

func newStats() *stats {
	return &stats{
		deliveries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "buzon_deliveries_total",
			Help: "Calls to send an e-mail, by kind and outcome (sent, already_sent, failed, unknown, on_hold, busy, claim_lost, error).",
		}, []string{"kind", "outcome"}),
		recordErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "buzon_delivery_record_errors_total",
			Help: "Failed tries to record an e-mail that a server had taken; while they fail, a crash would cost a duplicate.",
		}),
	}
}

var descOnHold = prometheus.NewDesc("buzon_deliveries_on_hold",
	"E-mails whose outcome is unknown and that wait for somebody to resolve them.", nil, nil)

// scrapeTimeout bounds what a scrape asks of the database.
const scrapeTimeout = 2 * time.Second

// Collector returns the mailer's metrics, for the host to register with its own
// registerer. A scrape counts what is on hold in the database; when it cannot,
// that gauge is left out.
func (m *Mailer) Collector() prometheus.Collector { return collector{m} }

type collector struct{ mailer *Mailer }

// Describe implements prometheus.Collector.
func (c collector) Describe(ch chan<- *prometheus.Desc) {
	c.mailer.stats.deliveries.Describe(ch)
	c.mailer.stats.recordErrors.Describe(ch)
	ch <- descOnHold
}

// Collect implements prometheus.Collector.
func (c collector) Collect(ch chan<- prometheus.Metric) {
	c.mailer.stats.deliveries.Collect(ch)
	c.mailer.stats.recordErrors.Collect(ch)
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	var n int64
	if err := c.mailer.pool.QueryRow(ctx, c.mailer.store.sql.countOnHold).Scan(&n); err != nil {
		c.mailer.log.Warn("buzon: read the metrics kept in the database", logError, err)
		return
	}
	ch <- prometheus.MustNewConstMetric(descOnHold, prometheus.GaugeValue, float64(n))
}
