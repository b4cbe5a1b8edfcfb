package delivery

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
)

// The wake of a BeginFunc within another's transaction comes after the outer
// one's commit.
func TestNestedBeginFunc(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue, err := NewQueue(pool, QueueConfig{NoNotify: true})
	require.NoError(t, err)
	sleeper := &Runner{wakeUp: make(chan struct{}, 1)}
	queue.wakes.add(sleeper)
	err = BeginFunc(t.Context(), pool, func(outer pgx.Tx) error {
		err := BeginFunc(t.Context(), outer, func(inner pgx.Tx) error {
			_, err := queue.Insert(t.Context(), inner, JobParams{Type: "a"})
			return err
		})
		assert.Empty(t, sleeper.wakeUp, "nothing is committed yet")
		return err
	})
	require.NoError(t, err)
	assert.Len(t, sleeper.wakeUp, 1)
}

// What was rolled back wakes nobody.
func TestRolledBackBeginFunc(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue, err := NewQueue(pool, QueueConfig{NoNotify: true})
	require.NoError(t, err)
	sleeper := &Runner{wakeUp: make(chan struct{}, 1)}
	queue.wakes.add(sleeper)
	err = BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := queue.Insert(t.Context(), tx, JobParams{Type: "a"})
		require.NoError(t, err)
		return assert.AnError
	})
	require.ErrorIs(t, err, assert.AnError)
	assert.Empty(t, sleeper.wakeUp)
}

// Jobs that were there already wake nobody.
func TestDuplicatesWakeNobody(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue, err := NewQueue(pool, QueueConfig{NoNotify: true})
	require.NoError(t, err)
	sleeper := &Runner{wakeUp: make(chan struct{}, 1)}
	queue.wakes.add(sleeper)
	for _, wakes := range []int{1, 0} {
		err := queue.BeginFunc(t.Context(), func(tx pgx.Tx) error {
			_, err := queue.InsertMany(t.Context(), tx, []JobParams{{Type: "a", UniqueKey: "1"}, {Type: "a", UniqueKey: "2"}})
			assert.Empty(t, sleeper.wakeUp, "nothing is committed yet")
			return err
		})
		require.NoError(t, err)
		require.Len(t, sleeper.wakeUp, wakes)
		for range wakes {
			<-sleeper.wakeUp
		}
	}
}
