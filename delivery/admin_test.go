package delivery_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/retry"
)

func TestGetJobOfAnUnknownID(t *testing.T) {
	t.Parallel()
	queue := newQueue(t, pgtest.New(t))
	_, err := queue.GetJob(t.Context(), 42)
	require.ErrorIs(t, err, delivery.ErrNotFound)
	require.ErrorContains(t, err, "get job 42")
}

func TestRetryNow(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	refuse := make(chan bool, 10)
	started, goOn := make(chan int64, 1), make(chan struct{})
	config := types(
		handle("a", func(context.Context, *delivery.Job) error {
			if <-refuse {
				return retry.Permanent(errBroken)
			}
			return nil
		}),
		handle("slow", func(_ context.Context, job *delivery.Job) error {
			started <- job.ID
			<-goOn
			return nil
		}))
	run(t, newRunner(t, queue, config))

	waiting := insert(t, pool, queue, delivery.JobParams{Type: "a", NotBefore: time.Now().Add(time.Hour)})
	refuse <- false
	require.NoError(t, queue.RetryNow(t.Context(), waiting))
	awaitState(t, queue, waiting, delivery.StateCompleted)

	params := delivery.JobParams{Type: "a", UniqueKey: "k"}
	failed := insert(t, pool, queue, params)
	refuse <- true
	first := awaitState(t, queue, failed, delivery.StateFailed)
	refuse <- false
	require.NoError(t, queue.RetryNow(t.Context(), failed))
	second := awaitState(t, queue, failed, delivery.StateCompleted)
	assert.Equal(t, first.LeaseNumber+1, second.LeaseNumber)

	other := insert(t, pool, queue, delivery.JobParams{Type: "a", UniqueKey: "k", NotBefore: time.Now().Add(time.Hour)})
	require.ErrorIs(t, queue.RetryNow(t.Context(), failed), delivery.ErrDuplicate)
	assert.NotEqual(t, failed, other)

	running := insert(t, pool, queue, delivery.JobParams{Type: "slow"})
	await(t, started)
	require.ErrorIs(t, queue.RetryNow(t.Context(), running), delivery.ErrRunning)
	close(goOn)
	require.ErrorIs(t, queue.RetryNow(t.Context(), 999), delivery.ErrNotFound)
}

func TestListJobs(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	var ids []int64
	for _, p := range []delivery.JobParams{
		{Type: "a", Tenant: "acme"}, {Type: "b", Tenant: "acme"}, {Type: "a", Tenant: "otro"}, {Type: "a", Tenant: "acme"},
	} {
		ids = append(ids, insert(t, pool, queue, p))
	}
	_, err := queue.Cancel(t.Context(), ids[3], "ana", "")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		filter delivery.JobFilter
		want   []int64
	}{
		"all":       {delivery.JobFilter{}, []int64{ids[3], ids[2], ids[1], ids[0]}},
		"type":      {delivery.JobFilter{Type: "a"}, []int64{ids[3], ids[2], ids[0]}},
		"tenant":    {delivery.JobFilter{Tenant: "acme"}, []int64{ids[3], ids[1], ids[0]}},
		"both":      {delivery.JobFilter{Type: "a", Tenant: "acme"}, []int64{ids[3], ids[0]}},
		"active":    {delivery.JobFilter{State: delivery.StatePending}, []int64{ids[2], ids[1], ids[0]}},
		"cancelled": {delivery.JobFilter{State: delivery.StateCancelled}, []int64{ids[3]}},
		"page":      {delivery.JobFilter{Limit: 2}, []int64{ids[3], ids[2]}},
		"next page": {delivery.JobFilter{Limit: 2, Before: ids[2]}, []int64{ids[1], ids[0]}},
		"hostile":   {delivery.JobFilter{Type: "a' OR '1'='1"}, nil},
	} {
		jobs, err := queue.ListJobs(t.Context(), c.filter)
		require.NoError(t, err, name)
		var got []int64
		for _, j := range jobs {
			got = append(got, j.ID)
		}
		assert.Equal(t, c.want, got, name)
	}
	_, err = queue.ListJobs(t.Context(), delivery.JobFilter{Limit: 1001})
	require.ErrorContains(t, err, "Limit is 1001")
}

// Old jobs are dropped by age, more than one batch of them, and the host's own
// housekeeping is called, also when a task of it panics.
func TestHousekeeping(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	const old = 2500
	exec(t, pool, `INSERT INTO buzon.outbox_job_history (id, job_type, tenant, payload, payload_version, priority, created_at, state,
			retry_count, max_retries, finished_at, lease_number, lost_leases)
		SELECT n, 'a', '', '{}', 1, 2, now(), 'completed', 0, 0,
			now() - CASE WHEN n <= $1 THEN interval '2 hours' ELSE interval '30 minutes' END, 1, 0
		FROM generate_series(1, $1 + 7) n`, old)
	called := make(chan struct{}, 1)
	config := types(handle("a", func(context.Context, *delivery.Job) error { return nil }))
	config.Retention = time.Hour
	config.Housekeeping = []func(context.Context) error{
		func(context.Context) error { panic("a host's task") },
		func(context.Context) error { called <- struct{}{}; return nil },
	}
	run(t, newRunner(t, queue, config))
	await(t, called) // after the library's own tasks
	assert.Equal(t, 7, count(t, pool, "SELECT count(*) FROM buzon.outbox_job_history"))
}

func TestNegativeRetentionKeepsEverything(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	id := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	_, err := queue.Cancel(t.Context(), id, "ana", "")
	require.NoError(t, err)
	exec(t, pool, "UPDATE buzon.outbox_job_history SET finished_at = 'epoch'")
	called := make(chan struct{}, 1)
	config := types(handle("a", func(context.Context, *delivery.Job) error { return nil }))
	config.Retention = -1
	config.Housekeeping = []func(context.Context) error{func(context.Context) error { called <- struct{}{}; return nil }}
	run(t, newRunner(t, queue, config))
	await(t, called)
	_, err = queue.GetJob(t.Context(), id)
	require.NoError(t, err)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(queue.Collector())

	done := insert(t, pool, queue, delivery.JobParams{Type: "a"})
	for range 3 {
		insert(t, pool, queue, delivery.JobParams{Type: "somebody_elses"})
	}
	insert(t, pool, queue, delivery.JobParams{Type: "later", NotBefore: time.Now().Add(time.Hour)})
	exec(t, pool, "UPDATE buzon.outbox_jobs SET next_retry_at = now() - interval '100 seconds' WHERE job_type = 'somebody_elses' AND id % 2 = 0")
	run(t, newRunner(t, queue, types(handle("a", func(context.Context, *delivery.Job) error { return nil }))))
	awaitState(t, queue, done, delivery.StateCompleted)

	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
		# HELP buzon_jobs_due Jobs that are due and not claimed, by type; counting stops at 10,000 for each priority. handled is false where no runner of this process knows the type.
		# TYPE buzon_jobs_due gauge
		buzon_jobs_due{handled="false",job_type="later"} 0
		buzon_jobs_due{handled="false",job_type="somebody_elses"} 3
	`), "buzon_jobs_due"))
	families, err := registry.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labels := family.GetName()
			for _, l := range m.GetLabel() {
				labels += " " + l.GetValue()
			}
			found[labels] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	assert.InDelta(t, 100, found["buzon_jobs_oldest_due_age_seconds false somebody_elses"], 30)
	assert.InDelta(t, 1, found["buzon_job_attempts_total a completed"], 0)
	require.Eventually(t, func() bool {
		return testutil.CollectAndCompare(queue.Collector(), strings.NewReader(`
			# HELP buzon_jobs_running Handlers that run in this process.
			# TYPE buzon_jobs_running gauge
			buzon_jobs_running 0
		`), "buzon_jobs_running") == nil
	}, patience, 10*time.Millisecond, "what has ended is forgotten")
}

// A database that is away costs the gauges kept there, and nothing else.
func TestMetricsWithoutDatabase(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	queue := newQueue(t, pool)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(queue.Collector())
	for scrape := range 3 {
		require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(fmt.Sprintf(`
			# HELP buzon_job_scrape_errors_total Scrapes that could not read the gauges kept in the database.
			# TYPE buzon_job_scrape_errors_total counter
			buzon_job_scrape_errors_total %d
		`, scrape+1)), "buzon_job_scrape_errors_total"))
	}
}

func TestFindActive(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	id := insert(t, pool, queue, delivery.JobParams{Type: "a", Tenant: "acme", UniqueKey: "k"})
	job, err := queue.FindActive(t.Context(), "a", "acme", "k")
	require.NoError(t, err)
	assert.Equal(t, id, job.ID)
	for _, other := range [][3]string{{"b", "acme", "k"}, {"a", "beta", "k"}, {"a", "acme", "l"}} {
		_, err := queue.FindActive(t.Context(), other[0], other[1], other[2])
		assert.ErrorIs(t, err, delivery.ErrNotFound)
	}
	_, err = queue.Cancel(t.Context(), id, "clerk", "")
	require.NoError(t, err)
	_, err = queue.FindActive(t.Context(), "a", "acme", "k")
	assert.ErrorIs(t, err, delivery.ErrNotFound, "it has ended")
}
