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
