//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStartOutOfNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{Settings: map[string]string{"fsync": "off", "work_mem": "5MB"}})

	t.Run("answers", func(t *testing.T) {
		assert.Equal(t, 1, query[int](t, s, "SELECT 1"))
	})
	t.Run("has its settings", func(t *testing.T) {
		assert.Equal(t, "5MB", query[string](t, s, "SHOW work_mem"))
		assert.Equal(t, "UTF8", query[string](t, s, "SHOW server_encoding"))
	})
	t.Run("listens on loopback only", func(t *testing.T) {
		assert.Equal(t, host, query[string](t, s, "SHOW listen_addresses"))
		assert.Empty(t, query[string](t, s, "SHOW unix_socket_directories"))
	})
	t.Run("asks for the password", func(t *testing.T) { testPassword(t, s) })
	t.Run("quotes a database's name", func(t *testing.T) { testURL(t, s) })
	t.Run("runs as an ordinary user", func(t *testing.T) { testUser(t, s) })
	t.Run("leaves Ctrl-C to its parent", func(t *testing.T) { testGroup(t, s) })
}

func testPassword(t *testing.T, s *Server) {
	for _, password := range []string{"", "postgres"} {
		u, err := url.Parse(s.URL("postgres"))
		require.NoError(t, err)
		u.User = url.UserPassword(superuser, password)
		_, err = pgx.Connect(t.Context(), u.String())
		var refused *pgconn.PgError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, "28P01", refused.Code, "invalid_password")
	}
	info, err := os.Stat(filepath.Join(s.Folder(), clusterName, passwordName))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

func testURL(t *testing.T, s *Server) {
	const name = `año / "50%"? #1`
	execute(t, s, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	conn, err := pgx.Connect(t.Context(), s.URL(name))
	require.NoError(t, err)
	defer conn.Close(t.Context())
	var got string
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT current_database()").Scan(&got))
	assert.Equal(t, name, got)
}

func testUser(t *testing.T, s *Server) {
	info, err := os.Stat(fmt.Sprintf("/proc/%d", postmaster(t, s.Folder())))
	if errors.Is(err, os.ErrNotExist) { // no /proc on this system; the data tells the same
		info, err = os.Stat(s.data())
	}
	require.NoError(t, err)
	uid := info.Sys().(*syscall.Stat_t).Uid
	assert.NotZero(t, uid)
	if !isRoot() {
		assert.EqualValues(t, os.Geteuid(), uid)
	}
}

func testGroup(t *testing.T, s *Server) {
	group, err := syscall.Getpgid(postmaster(t, s.Folder()))
	require.NoError(t, err)
	assert.NotEqual(t, syscall.Getpgrp(), group)
}

func TestStopLeavesNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{Settings: unsafe})
	pid := postmaster(t, s.Folder())
	require.True(t, isAlive(pid))
	conn := connect(t, s) // an open session does not keep the server up

	require.NoError(t, s.Stop(t.Context()))
	assert.False(t, isAlive(pid))
	assert.NoDirExists(t, s.Folder())
	assert.Error(t, conn.Ping(t.Context()))
	assert.True(t, isFree(s.port))

	require.NoError(t, s.Stop(t.Context()), "a second time")
	require.ErrorIs(t, s.Resume(t.Context()), ErrStopped)
}

func TestStopWithoutTime(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{Settings: unsafe})
	pid := postmaster(t, s.Folder())
	ended, cancel := context.WithCancel(t.Context())
	cancel()

	require.NoError(t, s.Stop(ended))
	assert.False(t, isAlive(pid), "Stop waits for the server's end in any case")
}

func TestFolderIsKept(t *testing.T) {
	t.Parallel()
	config := Config{Folder: filepath.Join(openFolder(t), "kept"), Settings: unsafe}
	first := startServer(t, config)
	execute(t, first, "CREATE TABLE kept AS SELECT 42 AS n")
	require.NoError(t, first.Stop(t.Context()))
	assert.FileExists(t, filepath.Join(config.Folder, logName))

	second := startServer(t, config)
	assert.Equal(t, 42, query[int](t, second, "SELECT n FROM kept"))
	assert.Equal(t, first.password, second.password)
}

func TestFolderIsTaken(t *testing.T) {
	t.Parallel()
	config := Config{Folder: openFolder(t), Settings: unsafe}
	first := startServer(t, config)

	_, err := Start(t.Context(), config)
	require.ErrorContains(t, err, "postmaster.pid", "the log says why")
	assert.Equal(t, 1, query[int](t, first, "SELECT 1"), "the first one is unharmed")
}

func TestOutages(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]func(*Server, context.Context) error{
		"halt":  (*Server).Halt,
		"crash": (*Server).Crash,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, Config{Settings: unsafe})
			execute(t, s, "CREATE TABLE kept AS SELECT 42 AS n")
			before := s.URL("postgres")
			session := connect(t, s)

			require.NoError(t, down(s, t.Context()))
			require.NoError(t, down(s, t.Context()), "down already")
			require.Error(t, session.Ping(t.Context()))
			_, err := pgx.Connect(t.Context(), before)
			require.Error(t, err)

			require.NoError(t, s.Resume(t.Context()))
			require.NoError(t, s.Resume(t.Context()), "up already")
			assert.Equal(t, before, s.URL("postgres"))
			assert.Equal(t, 42, query[int](t, s, "SELECT n FROM kept"))
		})
	}
}

func TestCrashSkipsTheShutdown(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{Settings: unsafe})
	require.NoError(t, s.Crash(t.Context()))
	before, err := os.Stat(s.logPath())
	require.NoError(t, err)
	require.NoError(t, s.Resume(t.Context()))
	text, err := os.ReadFile(s.logPath())
	require.NoError(t, err)
	assert.Contains(t, string(text[before.Size():]), "was not properly shut down")
}

func TestServerThatDiedByItself(t *testing.T) {
	t.Parallel()
	s := startServer(t, Config{Settings: unsafe})
	ended := s.process.alive.Done()
	kill(t, postmaster(t, s.Folder()))
	<-ended

	require.NoError(t, s.Resume(t.Context()))
	assert.Equal(t, 1, query[int](t, s, "SELECT 1"))
}

func TestPortTakenInBetween(t *testing.T) {
	t.Parallel()
	other, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	require.NoError(t, err)
	defer other.Close()
	_, text, err := net.SplitHostPort(other.Addr().String())
	require.NoError(t, err)
	taken, err := strconv.Atoi(text)
	require.NoError(t, err)

	s := startServer(t, Config{Settings: unsafe})
	require.NoError(t, s.Halt(t.Context()))
	s.port = taken
	require.ErrorContains(t, s.Resume(t.Context()), "could not bind", "its own port or none")

	choices := []int{taken, taken}
	s.choosePort = func() (int, error) {
		if len(choices) == 0 {
			return freePort()
		}
		port := choices[0]
		choices = choices[1:]
		return port, nil
	}
	require.NoError(t, s.launchOnFreePort(t.Context()))
	assert.NotEqual(t, taken, s.port)
	assert.Equal(t, 1, query[int](t, s, "SELECT 1"))
}

func TestStartQuotesTheLog(t *testing.T) {
	t.Parallel()
	folder := openFolder(t)
	_, err := Start(t.Context(), Config{Folder: folder, Settings: map[string]string{"fsync": "off", "shared_buffers": "plenty"}})
	require.ErrorContains(t, err, `invalid value for parameter "shared_buffers": "plenty"`)

	startServer(t, Config{Folder: folder, Settings: unsafe}) // the cluster itself is sound
}

func TestStartGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	folder := openFolder(t)
	binaries, err := Find(t.Context(), nil)
	require.NoError(t, err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()

	_, err = Start(ended, Config{Folder: folder, Binaries: binaries})
	require.ErrorIs(t, err, context.Canceled)
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	assert.Empty(t, left, "no half of a cluster")
}

func TestStartRefusesAnotherVersionsCluster(t *testing.T) {
	t.Parallel()
	config := Config{Folder: openFolder(t), Settings: unsafe}
	s := startServer(t, config)
	require.NoError(t, s.Stop(t.Context()))
	require.NoError(t, os.WriteFile(filepath.Join(s.data(), "PG_VERSION"), []byte("9.6\n"), 0o600))

	_, err := Start(t.Context(), config)
	require.ErrorContains(t, err, "was made by PostgreSQL 9 and cannot run on")
	require.ErrorContains(t, err, EnvBinaries)
}
