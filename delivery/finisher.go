package delivery

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/buzon-go/buzon/internal/timing"
)

// maxBatch bounds the results of one statement.
const maxBatch = 500

// Pauses between the tries of a write, while the database cannot be reached:
// the last one is a small part of the lease, so that results are written before
// anybody takes their jobs over.
const (
	firstWritePause = 20 * time.Millisecond
	lastWritePause  = time.Second
)

// finisher writes results in batches: while one is being written the next one
// gathers, so that a lone result does not wait and a crowd shares a commit.
// What cannot be written is tried again until the runner stops.
type finisher struct {
	queue *Queue
	calm  *timing.Calm
	lease time.Duration
	log   *slog.Logger

	mu      sync.Mutex
	waiting []*result
	stopped bool
	signal  chan struct{} // holds one: results wait
}

func newFinisher(queue *Queue, calm *timing.Calm, lease time.Duration, log *slog.Logger) *finisher {
	return &finisher{queue: queue, calm: calm, lease: lease, log: log, signal: make(chan struct{}, 1)}
}

// add hands a result over; res.done tells when it is written or dropped.
func (f *finisher) add(res *result) {
	res.done = make(chan struct{})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		close(res.done)
		return
	}
	f.waiting = append(f.waiting, res)
	select {
	case f.signal <- struct{}{}:
	default:
	}
}

// run writes until ctx ends, then drops what is left.
func (f *finisher) run(ctx context.Context) {
	f.mu.Lock()
	f.stopped = false
	f.mu.Unlock()
	for {
		select {
		case <-ctx.Done():
			f.stop()
			return
		case <-f.signal:
			f.flush(ctx)
		}
	}
}

func (f *finisher) stop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = true
	for _, res := range f.waiting {
		close(res.done)
	}
	f.waiting = nil
}

func (f *finisher) take() []*result {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := min(len(f.waiting), maxBatch)
	batch := f.waiting[:n:n]
	f.waiting = f.waiting[n:]
	return batch
}

func (f *finisher) flush(ctx context.Context) {
	for batch := f.take(); len(batch) > 0; batch = f.take() {
		var ending, back []*result
		for _, res := range batch {
			if res.outcome.state().Final() {
				ending = append(ending, res)
			} else {
				back = append(back, res)
			}
		}
		f.write(ctx, ending, f.queue.store.finish)
		f.write(ctx, back, f.queue.store.putBack)
	}
}

// writeFunc writes results and returns the ids of those that were owned.
type writeFunc func(ctx context.Context, q db, results []*result) (map[int64]bool, error)

// write brings one statement's results into the database, however long that
// takes, and releases those who wait for them.
func (f *finisher) write(ctx context.Context, results []*result, write writeFunc) {
	if len(results) == 0 {
		return
	}
	owned, err := f.writeOnce(ctx, results, write)
	for wait := firstWritePause; err != nil; wait = min(2*wait, lastWritePause, f.lease/8) {
		if isDataError(err) {
			f.writeApart(ctx, results, write)
			return
		}
		f.calm.Disturb()
		f.log.Warn("buzon: results cannot be written and are kept", "results", len(results), logError, err)
		if !timing.Pause(ctx, wait) {
			break
		}
		owned, err = f.writeAgain(ctx, results, write)
	}
	for _, res := range results {
		res.owned = owned[res.job.ID]
		close(res.done)
	}
}

func (f *finisher) writeOnce(ctx context.Context, results []*result, write writeFunc) (owned map[int64]bool, err error) {
	err = timing.Within(ctx, statementTimeout, func(ctx context.Context) error {
		owned, err = write(ctx, f.queue.pool, results)
		return err
	})
	return owned, err
}

// writeAgain writes after a failure. That may have come after the commit, so
// what is in the tables already counts as owned.
func (f *finisher) writeAgain(ctx context.Context, results []*result, write writeFunc) (map[int64]bool, error) {
	before, err := f.writeOnce(ctx, results, f.queue.store.written)
	if err != nil {
		return nil, err
	}
	owned, err := f.writeOnce(ctx, results, write)
	if err != nil {
		return nil, err
	}
	for id := range before {
		owned[id] = true
	}
	return owned, nil
}

// writeApart writes one result at a time, so that one which the database
// refuses does not hold up the others; that one loses its texts.
func (f *finisher) writeApart(ctx context.Context, results []*result, write writeFunc) {
	if len(results) > 1 {
		for _, res := range results {
			f.write(ctx, []*result{res}, write)
		}
		return
	}
	res := results[0]
	res.skipReason, res.errorText = "", "the text could not be stored"
	owned, err := f.writeAgain(ctx, results, write)
	if err != nil {
		f.log.Error("buzon: a result was refused by the database and is dropped", logJob, res.job.ID, logError, err)
	}
	res.owned = owned[res.job.ID]
	close(res.done)
}

// isDataError reports whether the database refused what it was given (SQLSTATE
// class 22, data exception, and 23, integrity violation), so that the same
// again will not pass.
func isDataError(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && (strings.HasPrefix(pgErr.Code, "22") || strings.HasPrefix(pgErr.Code, "23"))
}
