package retry_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/retry"
)

var errCause = errors.New("cause")

func TestPermanent(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("send: %w", retry.Permanent(errCause))
	assert.True(t, retry.IsPermanent(err))
	require.ErrorIs(t, err, errCause)
	require.EqualError(t, err, "send: cause")

	assert.False(t, retry.IsPermanent(errCause))
	assert.False(t, retry.IsPermanent(nil))
	require.NoError(t, retry.Permanent(nil))
}

func TestAfter(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("claim: %w", retry.After(90*time.Second, errCause))
	delay, ok := retry.AfterDelay(err)
	assert.True(t, ok)
	assert.Equal(t, 90*time.Second, delay)
	require.ErrorIs(t, err, errCause)
	require.ErrorContains(t, err, "1m30s")

	delay, ok = retry.AfterDelay(retry.After(-time.Second, errCause))
	assert.True(t, ok)
	assert.Zero(t, delay, "a negative delay counts as zero")

	_, ok = retry.AfterDelay(errCause)
	assert.False(t, ok)
	_, ok = retry.AfterDelay(nil)
	assert.False(t, ok)
	require.NoError(t, retry.After(time.Second, nil))
}
