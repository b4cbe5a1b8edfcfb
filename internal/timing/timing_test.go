package timing_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/internal/timing"
)

func TestPause(t *testing.T) {
	t.Parallel()
	assert.True(t, timing.Pause(t.Context(), time.Nanosecond))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	assert.False(t, timing.Pause(ended, time.Hour))
}

func TestWithin(t *testing.T) {
	t.Parallel()
	err := timing.Within(t.Context(), time.Nanosecond, func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	})
	assert.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestCalm(t *testing.T) {
	t.Parallel()
	var calm timing.Calm
	assert.LessOrEqual(t, calm.Left(time.Hour), time.Duration(0), "always calm so far")
	calm.Disturb()
	assert.Greater(t, calm.Left(time.Hour), 59*time.Minute)
	assert.LessOrEqual(t, calm.Left(0), time.Duration(0))
}
