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
	now   chan struct{} // holds one: a cancellation may be there

	mu    sync.Mutex
	held  map[*heldLease]struct{}
	awake time.Time // when run last had its turn
}

// heldLease is the lease of one running job.
type heldLease struct {
	leaseKey
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
	h := &heldLease{leaseKey: leaseKey{job.ID, job.LeaseNumber}, end: end, since: time.Now()}
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

// look makes run look for cancellations at once.
func (l *leases) look() {
	select {
	case l.now <- struct{}{}:
	default:
	}
}

// interval is how often leases are renewed: a quarter of their time, so that
// two tries may fail.
func (l *leases) interval() time.Duration { return l.lease / 4 }

// patience bounds one try, so that a dead connection does not cost the lease.
func (l *leases) patience() time.Duration {
	return min(5*time.Second, l.interval(), max(l.lease/8, time.Second))
}

// run renews until ctx ends: those that have been held for one interval, so
// that short jobs cost nothing.
func (l *leases) run(ctx context.Context) {
	conn := &reserve{pool: l.queue.pool}
	defer conn.close(ctx)
	ticker := time.NewTicker(l.interval())
	defer ticker.Stop()
	l.wokeUp()
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.now:
			l.ask(ctx, conn, l.heldFor(0), l.queue.store.cancelled, false)
		case <-ticker.C:
			if l.overslept() {
				l.calm.Disturb()
			}
			l.wokeUp()
			l.ask(ctx, conn, l.heldFor(l.interval()), l.renewAll, true)
		}
	}
}

func (l *leases) renewAll(ctx context.Context, q db, keys []leaseKey) ([]leaseState, error) {
	return l.queue.store.renew(ctx, q, keys, l.lease)
}

func (l *leases) wokeUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.awake = time.Now()
}

// overslept reports that this process was stopped for so long that it could not
// renew: other runners may own its jobs, and it must not take over its own.
func (l *leases) overslept() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Since(l.awake) > l.lease/2
}

// ask asks the database about leases, and ends the contexts of those that were
// cancelled and, where the answer is about all of them, lost. When the database
// cannot be reached nothing is lost: the handlers go on.
func (l *leases) ask(ctx context.Context, conn *reserve, asked []*heldLease,
	question func(context.Context, db, []leaseKey) ([]leaseState, error), aboutAll bool,
) {
	if len(asked) == 0 {
		return
	}
	keys := make([]leaseKey, len(asked))
	for i, h := range asked {
		keys[i] = h.leaseKey
	}
	var states []leaseState
	err := conn.use(ctx, l.patience(), func(ctx context.Context, q db) (err error) {
		states, err = question(ctx, q, keys)
		return err
	})
	if err != nil {
		l.calm.Disturb()
		l.log.Warn("buzon: leases cannot be renewed", "leases", len(asked), logError, err)
		return
	}
	l.apply(asked, states, aboutAll)
}

// heldFor returns the leases that have been held for a time and are to be
// renewed.
func (l *leases) heldFor(age time.Duration) []*heldLease {
	l.mu.Lock()
	defer l.mu.Unlock()
	var held []*heldLease
	for h := range l.held {
		if time.Since(h.since) >= age && (h.until.IsZero() || time.Now().Before(h.until)) {
			held = append(held, h)
		}
	}
	return held
}

func (l *leases) apply(asked []*heldLease, states []leaseState, aboutAll bool) {
	known := make(map[leaseKey]leaseState, len(states))
	for _, s := range states {
		known[s.leaseKey] = s
	}
	for _, h := range asked {
		s, owned := known[h.leaseKey]
		switch {
		case owned && s.cancelled:
			h.end(&CancelError{By: s.by, Reason: s.reason})
		case !owned && aboutAll && l.isHeld(h):
			h.end(ErrLeaseLost)
		}
	}
}

// isHeld reports whether the lease is still held: the row of a job that has
// ended meanwhile may rightly be gone.
func (l *leases) isHeld(h *heldLease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.held[h]
	return ok
}
