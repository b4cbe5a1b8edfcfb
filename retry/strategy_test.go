package retry_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/retry"
)

// samples is enough for both ends of a range of 31 values to show up: each is
// missed with a probability of (30/31)^2000, about 10^-29.
const samples = 2000

func TestDelaysOfTheContract(t *testing.T) {
	t.Parallel()
	strategy := retry.ExponentialBackoffStrategy{BaseDelay: 60 * time.Second}
	for _, want := range []struct{ attempt, low, high int }{
		{0, 60, 90},
		{1, 120, 150},
		{2, 240, 270},
		{3, 480, 510},
		{4, 960, 990},
		{5, 1920, 1950},
		{6, 3600, 3600},
		{7, 3600, 3600},
		{62, 3600, 3600},
		{63, 3600, 3600},
		{64, 3600, 3600},
		{math.MaxInt, 3600, 3600},
		{-1, 60, 90},
		{math.MinInt, 60, 90},
	} {
		low, high := delayRange(strategy, want.attempt)
		assert.Equal(t, time.Duration(want.low)*time.Second, low, "lowest delay of attempt %d", want.attempt)
		assert.Equal(t, time.Duration(want.high)*time.Second, high, "highest delay of attempt %d", want.attempt)
	}
}

func TestDelaysOfOtherBases(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		base      time.Duration
		attempt   int
		low, high time.Duration
	}{
		{0, 0, 60 * time.Second, 90 * time.Second}, // zero means the default
		{-time.Hour, 0, 60 * time.Second, 90 * time.Second},
		{time.Second, 0, time.Second, time.Second}, // half a second rounds down to no jitter
		{2 * time.Second, 0, 2 * time.Second, 3 * time.Second},
		{3 * time.Second, 0, 3 * time.Second, 4 * time.Second},
		{time.Millisecond, 3, 8 * time.Millisecond, 8 * time.Millisecond},
		{3600 * time.Second, 0, 3600 * time.Second, 3600 * time.Second},
		{math.MaxInt64, 0, 3600 * time.Second, 3600 * time.Second},
		{math.MaxInt64, 5, 3600 * time.Second, 3600 * time.Second},
	} {
		low, high := delayRange(retry.ExponentialBackoffStrategy{BaseDelay: c.base}, c.attempt)
		assert.Equal(t, c.low, low, "lowest delay, base %s, attempt %d", c.base, c.attempt)
		assert.Equal(t, c.high, high, "highest delay, base %s, attempt %d", c.base, c.attempt)
	}
}

func delayRange(s retry.RetryStrategyInterface, attempt int) (low, high time.Duration) {
	low, high = math.MaxInt64, math.MinInt64
	for range samples {
		d := s.NextDelay(attempt)
		low, high = min(low, d), max(high, d)
	}
	return low, high
}

func TestJitterIsWholeSeconds(t *testing.T) {
	t.Parallel()
	strategy := retry.ExponentialBackoffStrategy{BaseDelay: 7500 * time.Millisecond}
	for range samples {
		assert.Zero(t, (strategy.NextDelay(0)-7500*time.Millisecond)%time.Second)
	}
}

func TestShouldRetry(t *testing.T) {
	t.Parallel()
	var strategy retry.ExponentialBackoffStrategy
	runs := 0
	for attempt := 0; ; attempt++ {
		runs++
		if !strategy.ShouldRetry(attempt, 5) {
			break
		}
	}
	assert.Equal(t, 6, runs, "five retries are six runs")
	assert.False(t, strategy.ShouldRetry(0, 0), "0 means no retry")
	assert.False(t, strategy.ShouldRetry(0, -1))
	assert.True(t, strategy.ShouldRetry(math.MaxInt-1, math.MaxInt))
}

func FuzzDelayStaysInBounds(f *testing.F) {
	f.Add(int64(60*time.Second), 0)
	f.Add(int64(math.MaxInt64), math.MaxInt)
	f.Add(int64(math.MinInt64), math.MinInt)
	f.Add(int64(1), 62)
	f.Fuzz(func(t *testing.T, base int64, attempt int) {
		delay := retry.ExponentialBackoffStrategy{BaseDelay: time.Duration(base)}.NextDelay(attempt)
		if delay < 0 || delay > retry.MaxDelay {
			t.Fatalf("base %d, attempt %d: delay %s", base, attempt, delay)
		}
		if base > 0 && delay < min(time.Duration(base), retry.MaxDelay) {
			t.Fatalf("base %d, attempt %d: delay %s is below the base", base, attempt, delay)
		}
	})
}
