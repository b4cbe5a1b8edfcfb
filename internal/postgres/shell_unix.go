//go:build unix

package postgres

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// shell returns a command that runs a script under a name of its own.
func shell(name, script string, args ...string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, name}, args...)...) //nolint:gosec // Our own scripts, with what they work on as arguments.
	cmd.Env = childEnv()
	inOwnGroup(cmd)
	return cmd
}

// inOwnGroup keeps the terminal's signals from a command: a Ctrl-C is for this
// process, which then stops what it started.
func inOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// startOnPipe starts a command that reads a pipe on descriptor 3, and returns
// the pipe's other end. No other process has that end, so that the command
// sees this process die.
func startOnPipe(cmd *exec.Cmd) (*os.File, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	cmd.ExtraFiles = []*os.File{reader}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, writer.Close())
	}
	return writer, nil
}
