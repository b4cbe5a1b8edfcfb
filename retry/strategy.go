package retry

import (
	"fmt"
	"math/rand/v2"
	"time"
)

// RetryStrategyInterface decides whether a failed job is retried and how long
// it waits. Implementations are called from many goroutines at once.
//
//nolint:revive // The contract fixes the name, stutter included.
type RetryStrategyInterface interface {
	// NextDelay returns how long the job waits before it runs again. attempt
	// is the job's retry_count before it is raised, from 0. A negative delay
	// counts as zero.
	NextDelay(attempt int) time.Duration

	// ShouldRetry reports whether a job that has been retried attempt times
	// may be retried once more.
	ShouldRetry(attempt, maxRetries int) bool
}

// MaxDelay is the longest time that [ExponentialBackoffStrategy] waits.
const MaxDelay = 3600 * time.Second

// ExponentialBackoffStrategy doubles the delay at every attempt and adds a
// random part, so that jobs that failed together do not come back together:
//
//	delay = min(BaseDelay * 2^attempt + rand(0, BaseDelay/2), 3600 s)
//
// The random part is a whole number of seconds, both ends included. With the
// default base of 60 s the delays are 60-90, 120-150, 240-270, 480-510,
// 960-990 and 1920-1950 s, and 3600 s from attempt 6 on. A delay is never
// negative and never above [MaxDelay], whatever the attempt.
type ExponentialBackoffStrategy struct {
	// BaseDelay is the delay of the first retry. Zero or less means
	// [DefaultBaseDelay].
	BaseDelay time.Duration
}

var _ RetryStrategyInterface = ExponentialBackoffStrategy{}

// NextDelay implements [RetryStrategyInterface]. A negative attempt counts as 0.
func (s ExponentialBackoffStrategy) NextDelay(attempt int) time.Duration {
	base := s.BaseDelay
	if base <= 0 {
		base = DefaultBaseDelay
	}
	delay := doubled(base, attempt)
	if delay >= MaxDelay {
		return MaxDelay
	}
	// A base that reaches here is below an hour, so nothing can overflow.
	half := int64(base / 2 / time.Second)
	delay += time.Duration(rand.Int64N(half+1)) * time.Second
	return min(delay, MaxDelay)
}

// doubled returns base * 2^times, at most MaxDelay.
func doubled(base time.Duration, times int) time.Duration {
	for ; times > 0 && base < MaxDelay; times-- {
		base *= 2
	}
	return min(base, MaxDelay)
}

// ShouldRetry implements [RetryStrategyInterface]: attempt < maxRetries.
func (s ExponentialBackoffStrategy) ShouldRetry(attempt, maxRetries int) bool {
	return attempt < maxRetries
}

// String names the strategy and its base, for logs and start-up messages.
func (s ExponentialBackoffStrategy) String() string {
	base := s.BaseDelay
	if base <= 0 {
		base = DefaultBaseDelay
	}
	return fmt.Sprintf("exponential backoff from %s to %s", base, MaxDelay)
}
