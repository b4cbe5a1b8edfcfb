package billingmail_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/retry"
)

// now returns the database's time, by which jobs are due.
func (h *house) now() (now time.Time) {
	h.t.Helper()
	require.NoError(h.t, h.pool.QueryRow(h.t.Context(), "SELECT clock_timestamp()").Scan(&now))
	return now
}

// failAll runs a job at each of whose runs everything fails, until it has failed
// for good: the exponential strategy says when each retry is due.
func (h *house) failAll(id int64) *delivery.Job {
	h.t.Helper()
	before := h.now()
	h.run(func(c *delivery.RunnerConfig) {
		c.Retry = retryBy(h.t, retry.ExponentialBackoffStrategy{BaseDelay: 60 * time.Second})
	})
	job, err := h.queue.GetJob(h.t.Context(), id)
	require.NoError(h.t, err)
	require.Equal(h.t, retry.DefaultMaxRetries, job.MaxRetries)
	low := 60 * time.Second
	for retries := 1; retries <= job.MaxRetries; retries++ {
		job = h.await(id, func(j *delivery.Job) bool { return j.State == delivery.StatePending && j.RetryCount == retries })
		assert.Contains(h.t, job.LastError, "deliveries failed")
		assert.False(h.t, job.NextRetryAt.Before(before.Add(low)), "retry %d: %s is less than %s after %s", retries, job.NextRetryAt, low, before)
		after, high := h.now(), low+30*time.Second
		assert.False(h.t, job.NextRetryAt.After(after.Add(high)), "retry %d: %s is more than %s after %s", retries, job.NextRetryAt, high, after)
		before, low = after, 2*low
		require.NoError(h.t, h.queue.RetryNow(h.t.Context(), id))
	}
	job = h.awaitEnd(id)
	assert.Equal(h.t, delivery.StateFailed, job.State)
	assert.Equal(h.t, job.MaxRetries, job.RetryCount)
	return job
}

func (h *house) refuseEverybody() {
	h.t.Helper()
	require.NoError(h.t, h.server.SetRules(smtptest.Rule{At: smtptest.Mail, Reply: smtptest.Reply{Code: 451, Text: "later"}}))
}

// While everything fails, the retries are 60 to 90 s apart, then 120 to 150 s
// and so on; after the last one the job has failed, and every entry says why.
func TestRetriesOfALoteThatAlwaysFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.refuseEverybody()
	h.addLote("norte", 7, "completado", nil, members(3))
	job := h.failAll(h.resend(7).JobID)
	assert.Contains(t, job.LastError, "all 3 deliveries failed")
	assert.Equal(t, billingmail.Resumen{Error: 3}, h.resumen(7))
	for socio := range int64(3) {
		entry := h.entry(7, socio+1)
		assert.Equal(t, 1+job.MaxRetries, entry.Intentos)
		assert.NotEmpty(t, entry.ErrorDetalle)
		assert.True(t, *entry.Reintentable)
	}
	assert.Empty(t, h.received())

	// Whoever asks anew gets a new job.
	require.NoError(t, h.server.SetRules())
	assert.NotEqual(t, job.ID, h.resend(7).JobID)
}

// A test that cannot be sent is retried like any lote, and no member's entry
// says that it failed: nobody was to be written to.
func TestRetriesOfAPruebaThatAlwaysFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *billingmail.Config) { c.TestInbox = "pruebas@club.example" })
	h.refuseEverybody()
	h.addLote("norte", 7, "completado", map[string]any{"prueba": true}, members(8))
	job := h.failAll(h.resend(7).JobID)
	assert.Contains(t, job.LastError, "all 5 deliveries failed")
	require.Eventually(t, func() bool { // the entries follow the job
		list, err := h.service.List(t.Context(), billingmail.ListRequest{Schema: "norte", LoteID: 7})
		return err == nil && list.Resumen == billingmail.Resumen{Omitido: 8}
	}, patience, tick)
	assert.Equal(t, "el envío terminó con un error antes de llegar a este socio", h.entry(7, 1).ErrorDetalle)
	assert.Zero(t, h.entry(7, 1).Intentos)
	assert.Empty(t, h.received())
}
