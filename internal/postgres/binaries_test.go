package postgres

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFindPrefersTheEnvironment(t *testing.T) {
	found, err := Find(t.Context(), nil)
	require.NoError(t, err)
	require.GreaterOrEqual(t, found.Major, MinMajor)

	elsewhere := filepath.Join(t.TempDir(), "bin")
	require.NoError(t, os.Symlink(found.Folder, elsewhere))
	t.Setenv(EnvBinaries, elsewhere)
	got, err := Find(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, Binaries{Folder: elsewhere, Major: found.Major}, got)
}

func TestFindRefusesAWrongEnvironment(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(EnvBinaries, folder)
	_, err := Find(t.Context(), nil)
	require.ErrorContains(t, err, EnvBinaries)
	require.ErrorContains(t, err, folder)
	require.ErrorContains(t, err, "holds no initdb")
}

func TestOnPathFollowsLinks(t *testing.T) {
	found, err := Find(t.Context(), nil)
	require.NoError(t, err)
	resolved, err := filepath.EvalSymlinks(found.Folder)
	require.NoError(t, err)

	linked := t.TempDir()
	require.NoError(t, os.Symlink(found.postgres(), filepath.Join(linked, "postgres")))
	t.Setenv("PATH", linked)
	folder, ok := onPath("postgres")
	require.True(t, ok)
	assert.Equal(t, resolved, folder)
	_, ok = onPath("initdb")
	assert.False(t, ok)
}

func TestNewestFirst(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, version := range []string{"9.6", "16", "latest", "14"} {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "lib99", version, "bin"), 0o700))
	}
	var names []string
	for _, folder := range newestFirst(filepath.Join(root, "lib99", "*", "bin")) {
		names = append(names, filepath.Base(filepath.Dir(folder)))
	}
	assert.Equal(t, []string{"16", "14", "9.6", "latest"}, names)
}

func TestFirstUsablePassesOverWhatIsOldOrBroken(t *testing.T) {
	t.Parallel()
	old := programs(t, "echo 'postgres (PostgreSQL) 13.21'")
	silent := programs(t, "exit 1")
	strange := programs(t, "echo hello")
	good := programs(t, "echo 'postgres (PostgreSQL) 14.18 (Debian 14.18-1)'")

	got, ok := firstUsable(t.Context(), []string{t.TempDir(), old, silent, strange, good})
	require.True(t, ok)
	assert.Equal(t, Binaries{Folder: good, Major: 14}, got)
	_, ok = firstUsable(t.Context(), []string{old, silent, strange})
	assert.False(t, ok)
}

// programs returns a folder of programs, of which postgres answers as told.
func programs(t *testing.T, postgres string) string {
	t.Helper()
	folder := t.TempDir()
	for name, line := range map[string]string{"postgres": postgres, "initdb": "exit 1"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"+line+"\n"), 0o755))
	}
	return folder
}
