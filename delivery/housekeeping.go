package delivery

import (
	"context"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/internal/timing"
)

// housekeepingInterval lies between two rounds, and taskTimeout bounds each
// task of one: a dead connection must not end the housekeeping.
const (
	housekeepingInterval = time.Minute
	taskTimeout          = time.Minute
)

// housekeep does about once a minute what no job waits for.
func (r *Runner) housekeep(ctx context.Context) {
	tasks := append([]func(context.Context) error{r.sweepCancelled, r.dropHistory}, r.config.Housekeeping...)
	for {
		for _, task := range tasks {
			if err := timing.Within(ctx, taskTimeout, guarding(task)); err != nil && ctx.Err() == nil {
				r.log.Warn("buzon: housekeeping", logError, err)
			}
		}
		if !timing.Pause(ctx, min(housekeepingInterval, r.config.Lease)) {
			return
		}
	}
}

// guarding turns a panic of a host's task into an error.
func guarding(task func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("a housekeeping task panicked: %v", p)
			}
		}()
		return task(ctx)
	}
}

func (r *Runner) sweepCancelled(ctx context.Context) error {
	_, err := r.queue.store.sweepCancelled(ctx, r.queue.pool, r.config.Lease, r.isCalm())
	return err
}

// dropHistory deletes what is older than the retention, in small batches.
func (r *Runner) dropHistory(ctx context.Context) error {
	if r.config.Retention < 0 {
		return nil
	}
	return timing.InBatches(ctx, func(ctx context.Context) (int64, error) {
		return r.queue.store.deleteOld(ctx, r.queue.pool, r.config.Retention)
	})
}
