package delivery

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// notifyCancel is the payload of the NOTIFY that comes with a cancellation; one
// that says that jobs may be due has none.
const notifyCancel = "cancel"

// notifyDelay collects the wakes of many commits into one NOTIFY, and
// notifyTimeout bounds it: it is a hint, and never worth waiting for.
const (
	notifyDelay   = 5 * time.Millisecond
	notifyTimeout = 2 * time.Second
)

// wakeHub passes on that jobs may be due: to the runners of this process, or,
// where none of them can take the job at once, to those of others by NOTIFY.
// NOTIFY is never part of a host's transaction, since it takes a lock at
// commit that all commits with a NOTIFY share.
type wakeHub struct {
	pool     *pgxpool.Pool
	channel  string
	noNotify bool
	log      *slog.Logger

	mu      sync.Mutex
	runners map[*Runner]struct{}
	idle    chan struct{} // closed when no NOTIFY is under way; nil while none is
	again   bool          // one more is wanted after the one under way
	closed  bool          // none is sent any more
}

func newWakeHub(pool *pgxpool.Pool, channel string, noNotify bool, log *slog.Logger) *wakeHub {
	return &wakeHub{pool: pool, channel: channel, noNotify: noNotify, log: log, runners: map[*Runner]struct{}{}}
}

func (h *wakeHub) add(r *Runner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.runners[r] = struct{}{}
}

func (h *wakeHub) remove(r *Runner) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.runners, r)
}

// wake wakes for the types, or for any type when there are none.
func (h *wakeHub) wake(jobTypes []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	taken := false
	for r := range h.runners {
		taken = r.wakeFor(jobTypes) || taken
	}
	if !taken {
		h.notifyLocked()
	}
}

// look makes the runners of this process look for cancellations.
func (h *wakeHub) look() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.runners {
		r.leases.look()
	}
}

// handles reports whether a runner of this process has a handler for the type.
func (h *wakeHub) handles(jobType string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.runners {
		if _, ok := r.types[jobType]; ok {
			return true
		}
	}
	return false
}

// handlers returns how many handlers run in this process, and the age of the
// oldest.
func (h *wakeHub) handlers() (n int, oldest time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for r := range h.runners {
		n += r.leases.count()
		oldest = max(oldest, r.leases.oldest())
	}
	return n, oldest
}

// notify tells all runners, this process's included, to look.
func (h *wakeHub) notify() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notifyLocked()
}

func (h *wakeHub) notifyLocked() {
	switch {
	case h.noNotify || h.closed:
	case h.idle != nil:
		h.again = true
	default:
		h.idle = make(chan struct{})
		time.AfterFunc(notifyDelay, h.send)
	}
}

func (h *wakeHub) send() {
	h.mu.Lock()
	h.again = false // what commits from here on wants another one
	h.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), notifyTimeout)
	defer cancel()
	if _, err := h.pool.Exec(ctx, `SELECT pg_notify($1, '')`, h.channel); err != nil {
		h.log.Debug("buzon: notify other runners", logError, err)
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	if h.again && !h.closed {
		time.AfterFunc(notifyDelay, h.send)
		return
	}
	close(h.idle)
	h.idle = nil
}

// close returns when no NOTIFY is under way; there will be none any more.
func (h *wakeHub) close() {
	h.mu.Lock()
	h.closed = true
	idle := h.idle
	h.mu.Unlock()
	if idle != nil {
		<-idle
	}
}
