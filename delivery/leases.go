package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/buzon-go/buzon/internal/timing"
)

// leases renews the leases of the jobs whose handlers run, all in one
// statement, and ends the contexts of those that were lost or cancelled.
type leases struct {
	queue *Queue
	calm  *timing.Calm
	lease time.Duration
	log   *slog.Logger
	now   chan struct{} // holds one: look at once, a cancellation may be there

	mu   sync.Mutex
	held map[*heldLease]struct{}
}

// heldLease is the lease of one running job.
type heldLease struct {
	job   *Job
	end   context.CancelCauseFunc
	since time.Time
	until time.Time // not renewed any more after this; zero for no limit
}

func newLeases(queue *Queue, calm *timing.Calm, lease time.Duration, log *slog.Logger) *leases {
	return &leases{queue: queue, calm: calm, lease: lease, log: log, now: make(chan struct{}, 1), held: map[*heldLease]struct{}{}}
}

// hold begins to renew a job's lease. A handler that outstays its time limit
// is given one more lease time; then its lease is left to end.
func (l *leases) hold(job *Job, end context.CancelCauseFunc, timeLimit time.Duration) *heldLease {
	h := &heldLease{job: job, end: end, since: time.Now()}
	if timeLimit > 0 {
		h.until = h.since.Add(timeLimit)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[h] = struct{}{}
	return h
}

func (l *leases) release(h *heldLease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.held, h)
}

func (l *leases) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.held)
}

// oldest returns how long the longest running handler has run.
func (l *leases) oldest() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var age time.Duration
	for h := range l.held {
		age = max(age, time.Since(h.since))
	}
	return age
}

// look makes run look at once.
func (l *leases) look() {
	select {
	case l.now <- struct{}{}:
	default:
	}
}

// run renews until ctx ends: at each quarter of the lease, those that have
// been held for a quarter, so that short jobs cost nothing.
func (l *leases) run(ctx context.Context) {
	ticker := time.NewTicker(l.lease / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.now:
			l.renew(ctx, 0)
		case <-ticker.C:
			l.renew(ctx, l.lease/4)
		}
	}
}

// renew prolongs the leases that have been held for at least minAge. When the
// database cannot be reached nothing is lost: the handlers go on.
func (l *leases) renew(ctx context.Context, minAge time.Duration) {
	due := l.dueForRenewal(minAge)
	if len(due) == 0 {
		return
	}
	ids := make([]int64, len(due))
	numbers := make([]int64, len(due))
	for i, h := range due {
		ids[i], numbers[i] = h.job.ID, h.job.LeaseNumber
	}
	var renewed []renewal
	err := timing.Within(ctx, min(statementTimeout, l.lease/2), func(ctx context.Context) (err error) {
		renewed, err = l.queue.store.renew(ctx, l.queue.pool, ids, numbers, l.lease)
		return err
	})
	if err != nil {
		l.calm.Disturb()
		l.log.Warn("buzon: leases cannot be renewed", "leases", len(due), logError, err)
		return
	}
	l.apply(due, renewed)
}

func (l *leases) dueForRenewal(minAge time.Duration) []*heldLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	var due []*heldLease
	for h := range l.held {
		if time.Since(h.since) >= minAge && (h.until.IsZero() || time.Now().Before(h.until)) {
			due = append(due, h)
		}
	}
	return due
}

func (l *leases) apply(due []*heldLease, renewed []renewal) {
	byID := make(map[int64]renewal, len(renewed))
	for _, r := range renewed {
		byID[r.id] = r
	}
	for _, h := range due {
		r, owned := byID[h.job.ID]
		switch {
		case !owned && l.isHeld(h):
			h.end(ErrLeaseLost)
		case r.cancelled:
			h.end(&CancelError{By: r.by, Reason: r.reason})
		}
	}
}

// isHeld reports whether the handler still runs: the row of one that has
// returned meanwhile may rightly be gone.
func (l *leases) isHeld(h *heldLease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.held[h]
	return ok
}
