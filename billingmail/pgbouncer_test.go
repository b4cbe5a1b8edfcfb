//go:build unix

package billingmail_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
	"github.com/buzon-go/buzon/internal/testtools"
)

// serverConnections is how many PgBouncer has to PostgreSQL: fewer than the
// library has to PgBouncer, so that transactions of both schemas take turns on
// each of them.
const serverConnections = 2

// Behind a transaction pooler two schemas send their lotes at once, and the
// search path of neither stays on a connection.
func TestBehindPgBouncer(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeExec} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			t.Parallel()
			const total = 60
			h := newHouse(t)
			h.addSchema("sur")
			for _, schema := range []string{"norte", "sur"} {
				h.addLote(schema, 7, "completado", nil, members(total))
			}
			require.NoError(t, h.server.SetRules(refuse(2, 451, "4.3.0", 2)))
			h = h.through(startPgBouncer(t, h.pool), mode)
			h.run(func(c *delivery.RunnerConfig) { c.NoListen = true })

			var lotes sync.WaitGroup
			for _, schema := range []string{"norte", "sur"} {
				lotes.Go(func() {
					started, err := h.service.Resend(t.Context(), billingmail.ResendRequest{Schema: schema, LoteID: 7, RequestedBy: "clerk"})
					if assert.NoError(t, err) {
						assert.Equal(t, total, started.EntriesCount)
						_, err = h.service.Progress(t.Context(), schema, 7)
						assert.NoError(t, err)
					}
				})
			}
			lotes.Wait()
			for _, schema := range []string{"norte", "sur"} {
				require.Eventually(t, func() bool {
					progress, err := h.service.Progress(t.Context(), schema, 7)
					return err == nil && !progress.Active && progress.Resumen == billingmail.Resumen{Enviado: total}
				}, patience, tick, "the lote of %s did not get to its end: %s", schema, h.logs)
			}
			for address, n := range h.received() {
				assert.Equal(t, 2, n, address)
			}
			h.noSearchPath()
		})
	}
}

// noSearchPath looks at the search path of every connection to PostgreSQL.
func (h *house) noSearchPath() {
	h.t.Helper()
	var seen sync.Map
	var group sync.WaitGroup
	for range 100 {
		group.Go(func() {
			var path string
			var backend int
			err := h.pool.QueryRow(h.t.Context(), "SELECT current_setting('search_path'), pg_backend_pid(), pg_sleep(0.002)::text").Scan(&path, &backend, nil)
			assert.NoError(h.t, err)
			assert.Equal(h.t, `"$user", public`, path)
			seen.Store(backend, true)
		})
	}
	group.Wait()
	backends := 0
	seen.Range(func(any, any) bool { backends++; return true })
	assert.Equal(h.t, serverConnections, backends, "there were not as many connections to PostgreSQL as PgBouncer may have")
}

// through returns the house with the library on another way to its database.
func (h *house) through(connString string, mode pgx.QueryExecMode) *house {
	h.t.Helper()
	behind := *h
	behind.pool = pgtest.Connect(h.t, connString, func(c *pgxpool.Config) {
		c.ConnConfig.DefaultQueryExecMode = mode
		c.MaxConns = 10
	})
	var err error
	behind.queue, err = delivery.NewQueue(behind.pool, delivery.QueueConfig{})
	require.NoError(h.t, err)
	h.t.Cleanup(behind.queue.Close)
	behind.service, err = billingmail.New(billingmail.Config{Queue: behind.queue, Sender: senderTo(h.t, h.server), Branches: branches{}})
	require.NoError(h.t, err)
	return &behind
}

// untilStopped runs a program until its standard input ends, which happens at
// the latest when the process that holds the other end dies.
const untilStopped = `"$@" & program=$!; read -r _; kill -s TERM "$program"; wait "$program"`

// startPgBouncer starts a PgBouncer in transaction mode before the database of a
// pool, until the test ends, and returns how to connect to it.
func startPgBouncer(t *testing.T, pool *pgxpool.Pool) (connString string) {
	t.Helper()
	program := testtools.Find(t, "pgbouncer", "pgbouncer")
	folder, err := os.MkdirTemp("", "buzon-pgbouncer-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(folder)) })
	port, database := freePort(t), pool.Config().ConnConfig
	ini, log := filepath.Join(folder, "pgbouncer.ini"), filepath.Join(folder, "log")
	require.NoError(t, os.WriteFile(ini, fmt.Appendf(nil, `
[databases]
* = host=%s port=%d user=%s password=%s

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = 100
logfile = %s
`, database.Host, database.Port, quoted(database.User), quoted(database.Password), port, serverConnections, log), 0o600))

	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "/bin/sh", "-c", untilStopped, "buzon-pgbouncer", program, "-q", ini)
	cmd.Dir = "/"
	asNobody(t, cmd, folder, ini)
	stop, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = stop.Close()
		_ = cmd.Wait() // It was told to end.
		if t.Failed() {
			text, _ := os.ReadFile(log)
			t.Logf("PgBouncer's log:\n%s", text)
		}
	})
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	require.Eventually(t, func() bool {
		conn, err := net.Dial("tcp", address)
		return err == nil && conn.Close() == nil
	}, patience, tick, "PgBouncer does not listen")
	return (&url.URL{Scheme: "postgres", User: url.User(database.User), Host: address, Path: database.Database, RawQuery: "sslmode=disable"}).String()
}

// quoted is a value as PgBouncer's configuration has it.
func quoted(value string) string { return "'" + strings.ReplaceAll(value, "'", "''") + "'" }

// asNobody makes a command run as a user without rights, and gives the files to
// that user, where this process is root's: PgBouncer refuses to run as root.
func asNobody(t *testing.T, cmd *exec.Cmd, files ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		return
	}
	nobody, err := user.Lookup("nobody")
	require.NoError(t, err)
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	require.NoError(t, err)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	for _, file := range files {
		require.NoError(t, os.Chown(file, int(uid), int(gid)))
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}
