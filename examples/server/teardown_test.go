package main

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTeardownEndsTheLastFirst(t *testing.T) {
	t.Parallel()
	var started teardown
	var ended []string
	broken := errors.New("broken")
	for _, name := range []string{"database", "runner", "pages"} {
		started.add(name, func(ctx context.Context) error {
			assert.NoError(t, ctx.Err(), "the end outlives what was cancelled")
			ended = append(ended, name)
			return broken
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := started.end(ctx)
	assert.Equal(t, []string{"pages", "runner", "database"}, ended, "one that fails does not spare the others")
	assert.EqualError(t, err, "pages: broken\nrunner: broken\ndatabase: broken")
}

func TestBackground(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	end := background(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}, func() { close(over) })
	require.ErrorIs(t, end(t.Context()), context.Canceled)
	awaitClosed(t, over)

	// Work that ends by itself says so, and what it returned is not lost.
	broken := errors.New("broken")
	over = make(chan struct{})
	end = background(func(context.Context) error { return broken }, func() { close(over) })
	awaitClosed(t, over)
	assert.ErrorIs(t, end(t.Context()), broken)
}
