// Package timing holds waits that a context can end. It measures nothing.
package timing

import (
	"context"
	"time"
)

// Pause waits for d, and reports false when ctx ended first.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Within calls f with a context that ends after limit at the latest.
func Within(ctx context.Context, limit time.Duration, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f(ctx)
}

// batchPause lies between two batches, so that a large clean-up leaves the
// disks to others.
const batchPause = 50 * time.Millisecond

// InBatches calls f until it has nothing left to do, which a result of zero
// tells, with a pause between two calls.
func InBatches(ctx context.Context, f func(context.Context) (int64, error)) error {
	for {
		n, err := f(ctx)
		if err != nil || n == 0 {
			return err
		}
		if !Pause(ctx, batchPause) {
			return ctx.Err()
		}
	}
}
