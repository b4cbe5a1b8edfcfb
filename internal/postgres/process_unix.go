//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// supervisor runs the server as its child and takes orders from descriptor 3,
// a pipe whose other end only the parent holds: each line names a signal for
// the server. The pipe's end is the parent's death: then the server is stopped
// at once.
//
// The signals go through the shell, since this process may not know the
// server's process id, and the shell, whose child it is, cannot mistake it.
const supervisor = `
{ exec "$@"; } 3<&- &
server=$!
{
	while read -r signal; do kill -s "$signal" "$server"; done
	kill -s QUIT "$server"
} <&3 2>/dev/null &
watcher=$!
exec 3<&-
wait "$server"; status=$?
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
exit "$status"
`

// A process is a running server under its supervisor.
type process struct {
	orders *os.File
	alive  context.Context // ends when the server and its supervisor have ended
}

// startProcess starts the server.
func (s *Server) startProcess(log *os.File, args ...string) (*process, error) {
	cmd := shell("buzon-postgres", supervisor, append([]string{s.config.Binaries.postgres()}, args...)...)
	cmd.Dir = s.data()
	cmd.Stdout, cmd.Stderr = log, log // files, so that nobody waits for a pipe of ours
	s.owner.runAs(cmd)
	orders, err := startOnPipe(cmd)
	if err != nil {
		return nil, err
	}
	alive, ended := context.WithCancel(context.Background())
	go func() {
		defer ended()
		_ = cmd.Wait() // The log says why a server ended; its status does not.
	}()
	return &process{orders: orders, alive: alive}, nil
}

// order asks the server to shut down in a mode. A server that has ended
// already is no error.
func (p *process) order(m mode) error {
	signal := map[mode]string{fast: "INT", immediate: "QUIT"}[m]
	if _, err := fmt.Fprintln(p.orders, signal); err != nil && !errors.Is(err, syscall.EPIPE) {
		return err
	}
	return nil
}

// release gives up the pipe of a server that has ended.
func (p *process) release() { _ = p.orders.Close() }

// killGroup makes the end of a command's context end its children too.
func killGroup(cmd *exec.Cmd) {
	inOwnGroup(cmd)
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
