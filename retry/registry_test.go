package retry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/retry"
)

// everySecond is a host's own strategy.
type everySecond struct{}

func (everySecond) NextDelay(int) time.Duration              { return time.Second }
func (everySecond) ShouldRetry(attempt, maxRetries int) bool { return attempt < maxRetries }

func TestRegistry(t *testing.T) {
	t.Setenv(retry.EnvBaseDelay, "30")
	exponential := retry.ExponentialBackoffStrategy{BaseDelay: 30 * time.Second}

	registry, err := retry.NewRegistry(nil)
	require.NoError(t, err)
	assert.Equal(t, exponential, registry.Strategy("anything"))
	assert.Equal(t, exponential, registry.Strategy("email_notification_lote"))

	require.NoError(t, registry.Register("invoice", everySecond{}))
	assert.Equal(t, everySecond{}, registry.Strategy("invoice"))
	assert.Equal(t, exponential, registry.Strategy("anything"), "other types keep the fallback")

	registry, err = retry.NewRegistry(everySecond{})
	require.NoError(t, err)
	assert.Equal(t, everySecond{}, registry.Strategy("anything"))
	assert.Equal(t, exponential, registry.Strategy("email_notification_lote"), "the contract's own registration")
}

func TestRegisterRefusesNothing(t *testing.T) {
	t.Parallel()
	registry, err := retry.NewRegistry(nil)
	require.NoError(t, err)
	require.ErrorContains(t, registry.Register("", everySecond{}), "the job type is empty")
	require.ErrorContains(t, registry.Register("invoice", nil), `"invoice"`)
	assert.Equal(t, registry.Strategy("other"), registry.Strategy("invoice"))
}

func ExampleRegistry() {
	registry, err := retry.NewRegistry(nil) // MAIL_RETRY_MAX and MAIL_RETRY_BASE_DELAY
	if err != nil {
		panic(err)
	}
	if err := registry.Register("nightly_report", everySecond{}); err != nil {
		panic(err)
	}
	fmt.Println(registry.Strategy("nightly_report").NextDelay(3))
	fmt.Println(registry.Strategy("welcome"))
	// Output:
	// 1s
	// exponential backoff from 1m0s to 1h0m0s
}
