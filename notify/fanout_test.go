package notify_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/mailcheck"
	"github.com/buzon-go/buzon/notify"
)

// Each purchase of a date gets one e-mail, however often the event is published.
func TestEventDateReachesEveryPurchase(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.host.set(func(host *host) {
		for _, id := range []string{"p2", "p3"} {
			purchase := host.purchases["acme/p1"]
			purchase.Buyer.Email, purchase.Number = id+"@members.example", "N-"+id
			host.purchases["acme/"+id] = purchase
		}
		cancelled := host.purchases["acme/p1"]
		cancelled.Cancelled = true
		host.purchases["acme/p4"] = cancelled
		host.lists["acme/d1"] = []string{"p1", "p2", "p3", "p4"}
	})
	h.run()
	for range 2 {
		for _, event := range []notify.Event{rescheduled, suspended} {
			job := h.awaitEnd(h.publish(event))
			require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
			assert.JSONEq(t, `{"after": "p4", "written": 4}`, string(job.Progress))
		}
	}
	h.awaitCount(16, "SELECT count(*) FROM buzon.outbox_job_history WHERE job_type LIKE '%_purchase' AND state = 'completed'")
	assert.Equal(t, 4, h.count("SELECT count(*) FROM buzon.outbox_job_history WHERE skip_reason = 'the purchase was cancelled'"))
	got := map[string]int{}
	for _, message := range h.server.Messages() {
		parsed := mailcheck.Wire(t, message.Data)
		kind := "suspended"
		if strings.Contains(parsed.Text, "jueves, 26 de marzo de 2026") {
			kind = "rescheduled"
		}
		assert.Contains(t, parsed.Text, "jueves, 19 de marzo de 2026", "the date that was")
		assert.Contains(t, parsed.Text, "Las entradas siguen valiendo.")
		got[kind+" "+parsed.To[0].Address]++
	}
	assert.Equal(t, map[string]int{
		"rescheduled " + address: 1, "rescheduled p2@members.example": 1, "rescheduled p3@members.example": 1,
		"suspended " + address: 1, "suspended p2@members.example": 1, "suspended p3@members.example": 1,
	}, got)
	for _, key := range []string{"event-date-rescheduled:d1:d2:p2", "event-date-suspended:d1:p2"} {
		_, err := h.mailer.GetDelivery(t.Context(), "acme", key)
		assert.NoError(t, err)
	}
}

func (h *house) awaitCount(want int, sql string) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		var n int
		err := h.pool.QueryRow(context.WithoutCancel(h.t.Context()), sql).Scan(&n)
		return err == nil && n == want
	}, patience, tick, sql)
}

// numbered returns the ids from 1 to n that follow after, in the order of their
// numbers.
func numbered(n int, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		from := 0
		if after != "" {
			if _, err := fmt.Sscanf(after, "p%07d", &from); err != nil {
				yield("", err)
				return
			}
		}
		for i := from + 1; i <= n; i++ {
			if !yield(fmt.Sprintf("p%07d", i), nil) {
				return
			}
		}
	}
}

// lister is a host whose date has the purchases that list gives.
type lister struct {
	*host
	list func(ctx context.Context, after string) iter.Seq2[string, error]
}

func (l lister) PurchaseIDs(ctx context.Context, _, _, after string) iter.Seq2[string, error] {
	return l.list(ctx, after)
}

// withList makes a service whose only listeners are the fan-outs, so that what
// they write stays where it can be counted.
func fanOutHouse(t testing.TB, list func(ctx context.Context, after string) iter.Seq2[string, error]) *house {
	t.Helper()
	h := newHouse(t, func(c *notify.MailServiceConfig) { c.EventDates = lister{c.EventDates.(*host), list} })
	h.only = []string{notify.TypeEventDateSuspended}
	return h
}

// children expects the jobs of n purchases, each once.
func (h *house) children(n int) {
	h.t.Helper()
	assert.Equal(h.t, n, h.count("SELECT count(*) FROM buzon.outbox_jobs WHERE job_type = $1", notify.TypeEventDateSuspendedPurchase))
	assert.Equal(h.t, n, h.count("SELECT count(DISTINCT payload ->> 'purchase_id') FROM buzon.outbox_jobs WHERE job_type = $1",
		notify.TypeEventDateSuspendedPurchase))
}

// A list that breaks off anywhere goes on from where it was, and no purchase has
// a second job.
func TestFanOutGoesOnWhereItWasCut(t *testing.T) {
	t.Parallel()
	const total = 4500
	var mu sync.Mutex
	cuts := map[int]bool{0: true, 1: true, 999: true, 1000: true, 1001: true, 2500: true, 4499: true}
	fault := errors.New("no connection")
	h := fanOutHouse(t, func(_ context.Context, after string) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for id, err := range numbered(total, after) {
				var n int
				_, _ = fmt.Sscanf(id, "p%07d", &n)
				mu.Lock()
				cut := cuts[n-1]
				delete(cuts, n-1)
				mu.Unlock()
				if cut {
					yield("", fault)
					return
				}
				if !yield(id, err) {
					return
				}
			}
		}
	})
	h.retries = 20
	h.run()
	job := h.awaitEnd(h.publish(suspended))
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	assert.Empty(t, cuts)
	assert.Equal(t, 7, job.RetryCount)
	assert.Contains(t, job.LastError, `load the list of event_date_suspended after "p0004000": no connection`)
	h.children(total)
}

// A worker that dies between two batches, or whose lease somebody has taken in
// the middle of one, leaves nothing half done.
func TestFanOutSurvivesItsWorker(t *testing.T) {
	t.Parallel()
	const total = 3200
	var h *house
	var steal sync.Once
	h = fanOutHouse(t, func(ctx context.Context, after string) iter.Seq2[string, error] {
		if after == "p0002000" {
			steal.Do(func() {
				// What a take-over does: another lease number.
				_, err := h.pool.Exec(ctx, "UPDATE buzon.outbox_jobs SET lease_number = lease_number + 1, lease_until = now() WHERE job_type = $1",
					notify.TypeEventDateSuspended)
				assert.NoError(t, err)
			})
		}
		return numbered(total, after)
	})
	h.lease = 2 * time.Second
	h.run()
	id := h.publish(suspended)
	job := h.awaitEnd(id)
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	assert.GreaterOrEqual(t, job.LeaseNumber, int64(3), "it was taken from its worker")
	h.children(total)
}

// What a host does wrong is told, and what was written before stays.
func TestFanOutOfABrokenList(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list     func(context.Context, string) iter.Seq2[string, error]
		want     string
		children int
	}{
		"always from the beginning": {
			func(context.Context, string) iter.Seq2[string, error] { return numbered(1500, "") },
			"does not start after the id it was given", 1000,
		},
		"not found": {
			func(context.Context, string) iter.Seq2[string, error] {
				return func(yield func(string, error) bool) { yield("", fmt.Errorf("date: %w", notify.ErrNotFound)) }
			}, "not found", 0,
		},
		"an id that cannot be part of a key": {
			func(_ context.Context, after string) iter.Seq2[string, error] {
				return func(yield func(string, error) bool) {
					for id, err := range numbered(1200, after) {
						if id == "p0001100" {
							id = "p:1"
						}
						if !yield(id, err) {
							return
						}
					}
				}
			}, `PurchaseID "p:1" holds ':'`, 1000,
		},
		"empty": {func(context.Context, string) iter.Seq2[string, error] { return numbered(0, "") }, "", 0},
		"panic": {func(context.Context, string) iter.Seq2[string, error] { panic("no list") }, "the host panicked: no list", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := fanOutHouse(t, c.list)
			h.run()
			job := h.awaitEnd(h.publish(suspended))
			if c.want == "" {
				assert.Equal(t, delivery.StateCompleted, job.State)
			} else {
				assert.Equal(t, delivery.StateFailed, job.State)
				assert.Contains(t, job.LastError, c.want)
			}
			h.children(c.children)
		})
	}
}

// A failed list that was put right goes on, also from the history.
func TestFanOutIsRevived(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	broken := true
	h := fanOutHouse(t, func(_ context.Context, after string) iter.Seq2[string, error] {
		mu.Lock()
		defer mu.Unlock()
		if broken && after != "" {
			return func(yield func(string, error) bool) { yield("", notify.ErrNotFound) }
		}
		return numbered(1500, after)
	})
	h.run()
	id := h.publish(suspended)
	require.Equal(t, delivery.StateFailed, h.awaitEnd(id).State)
	h.children(1000)
	mu.Lock()
	broken = false
	mu.Unlock()
	require.NoError(t, h.queue.RetryNow(t.Context(), id))
	h.await(id, func(j *delivery.Job) bool { return j.State == delivery.StateCompleted })
	h.children(1500)
}

// BenchmarkFanOut writes the jobs of a date's purchases, and shows how much of
// the heap is in use at most while it does: it does not grow with the list.
func BenchmarkFanOut(b *testing.B) {
	for _, total := range []int{2_000, 20_000, 200_000} {
		b.Run(fmt.Sprint(total), func(b *testing.B) {
			var peak uint64
			h := fanOutHouse(b, func(_ context.Context, after string) iter.Seq2[string, error] {
				peak = max(peak, heapInUse())
				return numbered(total, after)
			})
			h.run()
			idle := heapInUse()
			for b.Loop() {
				job := h.awaitEnd(h.publish(suspended))
				require.Equal(b, delivery.StateCompleted, job.State, job.LastError)
			}
			b.ReportMetric(float64(total)*float64(b.N)/b.Elapsed().Seconds(), "purchases/s")
			b.ReportMetric(float64(max(peak, idle)-idle)/(1<<20), "MiB-over-idle")
		})
	}
}

// heapInUse returns the bytes of the heap that are reachable.
func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
