package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

func TestThrowawayLeavesNothing(t *testing.T) {
	t.Parallel()
	s := startPrivate(t, nil, "-throwaway")
	folder := databaseFolder(t, s.output.String())
	postmaster := postmasterOf(t, folder)
	s.signUp("club-norte", "Ana", "ana@example.net")
	s.awaitText("/inbox", "1 mensaje")

	s.stop()
	assert.NoDirExists(t, folder)
	assert.False(t, isAlive(postmaster))
	_, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
}

func TestDataIsKept(t *testing.T) {
	t.Parallel()
	folder := openFolder(t)
	s := startPrivate(t, nil, "-data", folder)
	s.signUp("club-norte", "Ana Pérez", "ana@example.net")
	s.awaitText("/inbox", "1 mensaje")
	s.awaitText("/trabajos", "completado")
	s.stop()

	s = startPrivate(t, settings{"DATA_DIR": folder})
	assert.Contains(t, s.get("/").text(), "Ana Pérez")
	assert.Contains(t, s.get("/entregas").text(), "welcome:club-norte:1 enviado")
	assert.Contains(t, s.get("/inbox").text(), "0 mensajes", "she is not welcomed twice")
}

// What was begun is ended before what it needs is.
func TestStopWaitsForWhatIsGoingOn(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	world := newMailServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Mail, Hold: hold}}})
	s := startServer(t, settingsFor(world))
	s.signUp("club-norte", "Ana", "ana@example.net")
	awaitClosed(t, hold.Reached())

	s.cancel()
	select {
	case err := <-s.ended:
		require.Fail(t, "the server left its e-mail alone", "%v", err)
	case <-s.output.stopping:
	}
	assert.Zero(t, world.Accepted())
	hold.Release()
	s.stop()
	assert.Equal(t, 1, world.Accepted())
	assert.Equal(t, 1, s.count(`SELECT count(*) FROM buzon.outbox_job_history WHERE state = 'completed'`))
}

func TestStartThatIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.NoError(t, run(ctx, []string{"-listen", "127.0.0.1:0", "-throwaway"}, settings{}.get, newOutput()))
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	address := listener.Addr().String()

	err = run(t.Context(), []string{"-throwaway"}, settings{"LISTEN_ADDR": address}.get, newOutput())
	require.ErrorIs(t, err, syscall.EADDRINUSE)
	assert.ErrorContains(t, err, address)
	assert.ErrorContains(t, err, "choose another address with -listen")
}

func TestDatabaseThatIsNotThere(t *testing.T) {
	t.Parallel()
	env := settings{"DATABASE_URL": "postgres://ana:hunter2@127.0.0.1:1/nothing"}
	err := run(t.Context(), []string{"-listen", "127.0.0.1:0"}, env.get, newOutput())
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	assert.NotContains(t, err.Error(), "hunter2")
}

var folderLine = regexp.MustCompile(`Database: a private PostgreSQL in (\S+)`)

func databaseFolder(t *testing.T, output string) string {
	t.Helper()
	line := folderLine.FindStringSubmatch(output)
	require.NotNil(t, line, output)
	return line[1]
}

// postmasterOf returns the process id of the PostgreSQL in a folder.
func postmasterOf(t *testing.T, folder string) int {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(folder, "cluster", "data", "postmaster.pid"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(content), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	require.True(t, isAlive(pid))
	return pid
}

func isAlive(pid int) bool {
	process, err := os.FindProcess(pid)
	return err == nil && process.Signal(syscall.Signal(0)) == nil
}

// openFolder returns a temporary folder that every user can enter, which those
// of t.TempDir are not when their owner is root.
func openFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "sample-server-test-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755))
	return folder
}
