//go:build unix

package postgres

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// envChild makes the test binary start a server in that folder (empty for a
// temporary one) and wait to be killed.
const envChild = "BUZON_POSTGRES_TEST_CHILD"

func runChild(folder string) {
	s, err := Start(context.Background(), Config{Folder: folder, Settings: unsafe})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(s.Folder())
	_, _ = io.Copy(io.Discard, os.Stdin) // until killed, or until the test is gone
}

func TestDiesWithItsParent(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]bool{"temporary folder": false, "kept folder": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := ""
			if kept {
				given = openFolder(t)
			}
			child, folder := startChild(t, given)
			pid := postmaster(t, folder)
			require.True(t, isAlive(pid))

			require.NoError(t, child.Process.Kill())
			_ = child.Wait() // says that it was killed
			eventually(t, func() bool { return !isAlive(pid) }, "the server outlived its parent")
			if kept {
				assert.FileExists(t, filepath.Join(folder, clusterName, passwordName))
				startServer(t, Config{Folder: folder, Settings: unsafe})
				return
			}
			eventually(t, func() bool { _, err := os.Stat(folder); return os.IsNotExist(err) }, "the temporary folder was left behind")
		})
	}
}

// TestTemporaryFolderOfADeadServer kills the parent while its server is down.
func TestTemporaryFolderOfADeadServer(t *testing.T) {
	t.Parallel()
	child, folder := startChild(t, "")
	kill(t, postmaster(t, folder))
	require.NoError(t, child.Process.Kill())
	_ = child.Wait() // says that it was killed
	eventually(t, func() bool { _, err := os.Stat(folder); return os.IsNotExist(err) }, "the temporary folder was left behind")
}

// startChild starts a process that starts a server, and returns the folder of
// that server.
func startChild(t *testing.T, folder string) (*exec.Cmd, string) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), envChild+"="+folder)
	child.Stderr = os.Stderr
	_, err := child.StdinPipe()
	require.NoError(t, err)
	stdout, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	return child, line[:len(line)-1]
}

func TestClusterKeepsItsOwner(t *testing.T) {
	t.Parallel()
	config := Config{Folder: openFolder(t), Settings: unsafe}
	s := startServer(t, config)
	require.NoError(t, s.Stop(t.Context()))
	if isRoot() { // as on a folder of the host's that is mounted into a container
		require.NoError(t, filepath.WalkDir(filepath.Join(s.folder, clusterName), func(path string, _ os.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, 12345, 12345))
		}))
	}
	again := startServer(t, config)
	assert.Equal(t, 1, query[int](t, again, "SELECT 1"))
}

func TestFolderThatTheServerCannotReach(t *testing.T) {
	t.Parallel()
	private := t.TempDir()
	require.NoError(t, os.Chmod(private, 0o700))
	config := Config{Folder: filepath.Join(private, "data"), Settings: unsafe}
	s, err := Start(t.Context(), config)
	if isRoot() {
		require.ErrorContains(t, err, "cannot enter "+config.Folder)
		return
	}
	require.NoError(t, err)
	require.NoError(t, s.Stop(t.Context()))
}

func TestTemporaryFolderDespitePrivateTMPDIR(t *testing.T) {
	private := t.TempDir()
	require.NoError(t, os.Chmod(private, 0o700))
	t.Setenv("TMPDIR", private)
	startServer(t, Config{Settings: unsafe})
	left, err := os.ReadDir(private)
	require.NoError(t, err)
	if isRoot() {
		assert.Empty(t, left)
	}
}

// TestForeignEnvironment starts under variables that would send PostgreSQL's
// programs elsewhere.
func TestForeignEnvironment(t *testing.T) {
	t.Setenv("PGDATA", "/nonexistent")
	t.Setenv("PGPORT", "1")
	t.Setenv("LC_ALL", "xx_XX.UTF-8")
	t.Setenv("SECRET", "hunter2")
	assert.NotContains(t, childEnv(), "SECRET=hunter2")
	s, err := Start(t.Context(), Config{Settings: unsafe})
	require.NoError(t, err)
	require.NoError(t, s.Stop(t.Context()))
}

func isAlive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func kill(t *testing.T, pid int) {
	t.Helper()
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

func TestFetchedBinariesAreForAllUsers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "bin", "program"), nil, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "text"), nil, 0o600))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(folder, "link")))
	require.NoError(t, makeReadable(folder))
	if !isRoot() {
		return // others run what they own
	}
	for path, mode := range map[string]os.FileMode{"bin": 0o755, "bin/program": 0o755, "text": 0o644} {
		info, err := os.Stat(filepath.Join(folder, path))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm(), path)
	}
}
