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
	f.enqueue(res)
}

func (f *finisher) enqueue(res *result) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		res.settle(false)
		return
	}
	f.waiting = append(f.waiting, res)
	select {
	case f.signal <- struct{}{}:
	default:
	}
}

// start makes the finisher take results. Run calls it before anything is
// claimed.
func (f *finisher) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopped = false
}

// run writes until ctx ends, then drops what is left.
func (f *finisher) run(ctx context.Context) {
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
		res.settle(false)
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

// writeFunc writes results and returns the ids of those that it has written.
type writeFunc func(ctx context.Context, q db, results []*result) (map[int64]bool, error)

// write brings one statement's results into the database, however long that
// takes, and settles them.
func (f *finisher) write(ctx context.Context, results []*result, write writeFunc) {
	if len(results) == 0 {
		return
	}
	err := f.writeOnce(ctx, results, write)
	for wait := firstWritePause; err != nil; wait = min(2*wait, lastWritePause, f.lease/8) {
		if isDataError(err) {
			f.writeApart(ctx, results, write)
			return
		}
		f.calm.Disturb()
		f.log.Warn("buzon: results cannot be written and are kept", "results", len(results), logError, err)
		if !timing.Pause(ctx, wait) {
			settleAll(results, false)
			return
		}
		err = f.writeOnce(ctx, results, write)
	}
}

// writeOnce writes, and settles every result unless there is an error.
func (f *finisher) writeOnce(ctx context.Context, results []*result, write writeFunc) error {
	var written, fates map[int64]bool
	err := timing.Within(ctx, statementTimeout, func(ctx context.Context) (err error) {
		if written, err = write(ctx, f.queue.pool, results); err == nil && len(written) < len(results) {
			fates, err = f.queue.store.fates(ctx, f.queue.pool, results)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, res := range results {
		fate, known := fates[res.job.ID]
		switch {
		case written[res.job.ID]:
			res.settle(true)
		case known && !fate:
			f.addLater(res)
		default:
			res.settle(fate)
		}
	}
	return nil
}

// addLater hands a result in again after a moment: somebody has locked its
// job's row, and the other results need not wait for that.
func (f *finisher) addLater(res *result) {
	time.AfterFunc(min(lastWritePause, f.lease/8), func() { f.enqueue(res) })
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
	if err := f.writeOnce(ctx, results, write); err != nil {
		f.log.Error("buzon: a result was refused by the database and is dropped", logJob, res.job.ID, logError, err)
		res.settle(false)
	}
}

func settleAll(results []*result, owned bool) {
	for _, res := range results {
		res.settle(owned)
	}
}

// isDataError reports whether the database refused what it was given (SQLSTATE
// class 22, data exception, and 23, integrity violation), so that the same
// again will not pass.
func isDataError(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && (strings.HasPrefix(pgErr.Code, "22") || strings.HasPrefix(pgErr.Code, "23"))
}
