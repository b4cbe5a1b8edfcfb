package delivery

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// stats are the counters of a queue's runners in this process.
type stats struct {
	ended       *prometheus.CounterVec
	seconds     *prometheus.HistogramVec
	leasesLost  *prometheus.CounterVec
	claimErrors prometheus.Counter
	scrapeError prometheus.Counter
}

func newStats() *stats {
	return &stats{
		ended: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "buzon_job_attempts_total",
			Help: "Attempts that this process has run, by job type and outcome (completed, skipped, failed, cancelled, retried, postponed, released).",
		}, []string{"job_type", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "buzon_job_attempt_seconds",
			Help:    "Duration of an attempt, from its claim to its handler's return.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10),
		}, []string{"job_type"}),
		leasesLost: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "buzon_job_leases_lost_total",
			Help: "Attempts of this process whose result was dropped, since another runner owned the job or the runner stopped before it could be written.",
		}, []string{"job_type"}),
		claimErrors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "buzon_job_claim_errors_total",
			Help: "Looks for due jobs that failed.",
		}),
		scrapeError: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "buzon_job_scrape_errors_total",
			Help: "Scrapes that could not read the gauges kept in the database.",
		}),
	}
}

func (s *stats) finished(res *result, took time.Duration) {
	s.ended.WithLabelValues(res.job.Type, string(res.outcome)).Inc()
	s.seconds.WithLabelValues(res.job.Type).Observe(took.Seconds())
}

var (
	descDue = prometheus.NewDesc("buzon_jobs_due",
		"Jobs that are due and not claimed, by type; counting stops at 10,000 for each priority. handled is false where no runner of this process knows the type.",
		[]string{"job_type", "handled"}, nil)
	descOldest = prometheus.NewDesc("buzon_jobs_oldest_due_age_seconds",
		"How long the oldest due job of a type has been due.",
		[]string{"job_type", "handled"}, nil)
	descRunning = prometheus.NewDesc("buzon_jobs_running",
		"Handlers that run in this process.", nil, nil)
	descOldestRunning = prometheus.NewDesc("buzon_jobs_oldest_running_age_seconds",
		"How long the longest handler of this process has been running.", nil, nil)
)

const (
	countDueLimit = 10_000
	scrapeTimeout = 2 * time.Second
	scrapeKeep    = 5 * time.Second // so that many scrapers cost one query
)

// Collector returns the metrics of the queue and of this process's runners, for
// the host to register with its own registerer. A scrape reads the due jobs
// from the database, at most once in five seconds; when it cannot, those
// gauges are left out and the failure is counted.
func (q *Queue) Collector() prometheus.Collector {
	return &collector{queue: q}
}

type collector struct {
	queue *Queue

	mu     sync.Mutex
	due    []dueCount
	readAt time.Time
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(ch chan<- *prometheus.Desc) {
	c.counters(func(m prometheus.Collector) { m.Describe(ch) })
	for _, d := range []*prometheus.Desc{descDue, descOldest, descRunning, descOldestRunning} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(ch chan<- prometheus.Metric) {
	due := c.dueCounts() // first, so that its failure counts in this scrape
	c.counters(func(m prometheus.Collector) { m.Collect(ch) })
	running, oldest := c.queue.wakes.handlers()
	ch <- prometheus.MustNewConstMetric(descRunning, prometheus.GaugeValue, float64(running))
	ch <- prometheus.MustNewConstMetric(descOldestRunning, prometheus.GaugeValue, oldest.Seconds())
	for _, d := range due {
		handled := "false"
		if c.queue.wakes.handles(d.jobType) {
			handled = "true"
		}
		ch <- prometheus.MustNewConstMetric(descDue, prometheus.GaugeValue, float64(d.due), d.jobType, handled)
		ch <- prometheus.MustNewConstMetric(descOldest, prometheus.GaugeValue, d.oldestAge.Seconds(), d.jobType, handled)
	}
}

func (c *collector) counters(visit func(prometheus.Collector)) {
	s := c.queue.stats
	for _, m := range []prometheus.Collector{s.ended, s.seconds, s.leasesLost, s.claimErrors, s.scrapeError} {
		visit(m)
	}
}

func (c *collector) dueCounts() []dueCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.readAt) < scrapeKeep {
		return c.due
	}
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	due, err := c.queue.store.countDue(ctx, c.queue.pool, countDueLimit)
	if err != nil {
		c.queue.stats.scrapeError.Inc()
		c.queue.log.Warn("buzon: read the metrics kept in the database", logError, err)
		return nil
	}
	c.due, c.readAt = due, time.Now()
	return due
}
