package postgres

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// unsafe are the settings of a server whose data nobody will miss.
var unsafe = map[string]string{"fsync": "off"}

// startServer starts a server and stops it when the test ends.
func startServer(t *testing.T, config Config) *Server {
	t.Helper()
	s, err := Start(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Stop(context.WithoutCancel(t.Context()))) })
	return s
}

// openFolder returns a temporary folder that every user can enter, which those
// of t.TempDir are not when their owner is root.
func openFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "postgres-test-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o755))
	return folder
}

func connect(t *testing.T, s *Server) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), s.URL("postgres"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func execute(t *testing.T, s *Server, sql string) {
	t.Helper()
	_, err := connect(t, s).Exec(t.Context(), sql)
	require.NoError(t, err)
}

func query[T any](t *testing.T, s *Server, sql string) (value T) {
	t.Helper()
	require.NoError(t, connect(t, s).QueryRow(t.Context(), sql).Scan(&value))
	return value
}

// postmaster returns the process id of the server in a folder.
func postmaster(t *testing.T, folder string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, clusterName, dataName, "postmaster.pid"))
	require.NoError(t, err)
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	require.NoError(t, err)
	return pid
}

// eventually waits for what another process does, which sends no signal here.
func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, 30*time.Second, 10*time.Millisecond, what)
}
