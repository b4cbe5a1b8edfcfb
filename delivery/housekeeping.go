package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/internal/timing"
)

const (
	housekeepingInterval = time.Minute
	deleteBatch          = 1000
	// deletePause lies between two batches, so that a large clean-up leaves
	// the disks to the jobs.
	deletePause = 50 * time.Millisecond
)

// housekeep does about once a minute what no job waits for.
func (r *Runner) housekeep(ctx context.Context) {
	tasks := append([]func(context.Context) error{r.sweepCancelled, r.dropHistory}, r.config.Housekeeping...)
	for {
		for _, task := range tasks {
			if err := guard(ctx, task); err != nil && ctx.Err() == nil {
				r.log.Warn("buzon: housekeeping", logError, err)
			}
		}
		if !timing.Pause(ctx, min(housekeepingInterval, r.config.Lease)) {
			return
		}
	}
}

// guard turns a panic of a host's task into an error.
func guard(ctx context.Context, task func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.Join(err, fmt.Errorf("a housekeeping task panicked: %v", p))
		}
	}()
	return task(ctx)
}

func (r *Runner) sweepCancelled(ctx context.Context) error {
	return timing.Within(ctx, statementTimeout, func(ctx context.Context) error {
		_, err := r.queue.store.sweepCancelled(ctx, r.queue.pool, r.config.Lease, r.isCalm())
		return err
	})
}

// dropHistory deletes what is older than the retention, in small batches.
func (r *Runner) dropHistory(ctx context.Context) error {
	if r.config.Retention < 0 {
		return nil
	}
	for {
		n, err := r.queue.store.deleteOld(ctx, r.queue.pool, r.config.Retention, deleteBatch)
		if err != nil || n < deleteBatch || !timing.Pause(ctx, deletePause) {
			return err
		}
	}
}
