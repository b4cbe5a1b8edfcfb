package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFolderOfThePrivatePostgres(t *testing.T) {
	t.Parallel()
	kept, err := postgresConfig(config{})
	require.NoError(t, err)
	assert.Equal(t, "sample-server", filepath.Base(kept.Folder), "by default the data is kept")

	named, err := postgresConfig(config{dataFolder: "elsewhere"})
	require.NoError(t, err)
	assert.Equal(t, "elsewhere", named.Folder)
	assert.Empty(t, named.Settings, "whatever is kept is written with care")

	thrownAway, err := postgresConfig(config{throwaway: true})
	require.NoError(t, err)
	assert.Empty(t, thrownAway.Folder)
}
