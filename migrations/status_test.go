package migrations_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/migrations"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	pool := pgtest.NewEmpty(t)
	createSchema(t, pool, "sucursal")
	pending := []migrations.Step{{Version: 1, Name: librarySteps[0]}, {Version: 2, Name: librarySteps[1]}, {Version: 3, Name: librarySteps[2]}}
	branchPending := []migrations.Step{{Version: 1, Name: branchSteps[0]}, {Version: 2, Name: branchSteps[1]}}

	steps, err := migrations.Status(t.Context(), pool, "")
	require.NoError(t, err)
	assert.Equal(t, pending, steps)
	assert.True(t, steps[0].Pending())
	steps, err = migrations.BranchStatus(t.Context(), pool, "sucursal")
	require.NoError(t, err)
	assert.Equal(t, branchPending, steps)
	assert.Empty(t, relations(t, pool, "sucursal"), "asking changes nothing")

	now := query[time.Time](t, pool, "SELECT now()")
	applied, err := migrations.Up(t.Context(), pool, "")
	require.NoError(t, err)
	steps, err = migrations.Status(t.Context(), pool, "")
	require.NoError(t, err)
	assert.Equal(t, applied, steps)
	assert.Equal(t, librarySteps, stepNames(t, steps))
	assert.WithinRange(t, steps[0].AppliedAt, now, now.Add(time.Minute))

	_, err = migrations.UpBranch(t.Context(), pool, "sucursal")
	require.NoError(t, err)
	steps, err = migrations.BranchStatus(t.Context(), pool, "sucursal")
	require.NoError(t, err)
	assert.Equal(t, branchSteps, stepNames(t, steps))

	execute(t, pool, "DELETE FROM buzon.buzon_migrations WHERE version = 2")
	steps, err = migrations.Status(t.Context(), pool, "")
	require.NoError(t, err)
	assert.Equal(t, pending[1], steps[1])
	assert.False(t, steps[0].Pending())
}
