//go:build unix

package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

// A child is the server as a process of its own.
type child struct {
	*exec.Cmd
	output     *output
	postmaster int // the process id of its PostgreSQL
}

func startChild(t *testing.T, env ...string) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0], "-listen", "127.0.0.1:0", "-throwaway"), output: newOutput()}
	c.Env = append(withoutSettings(os.Environ()), envChild+"=1")
	c.Env = append(c.Env, env...)
	c.Stdout, c.Stderr = c.output, c.output
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	select {
	case <-c.output.page:
	case <-time.After(patience):
		require.Fail(t, "the server did not start", c.output.String())
	}
	c.postmaster = postmasterOf(t, databaseFolder(t, c.output.String()))
	return c
}

// withoutSettings keeps what is set on this machine out of the test.
func withoutSettings(env []string) []string {
	var kept []string
	for _, variable := range env {
		if !strings.HasPrefix(variable, "SMTP_") && !strings.HasPrefix(variable, "DATA") && !strings.HasPrefix(variable, "LISTEN_") {
			kept = append(kept, variable)
		}
	}
	return kept
}

// assertNoPostgres waits for the end of what the child had started.
func (c *child) assertNoPostgres(t *testing.T) {
	t.Helper()
	assert.Eventually(t, func() bool { return !isAlive(c.postmaster) }, patience, 10*time.Millisecond)
}

func TestSignalsEndTheServer(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			t.Parallel()
			c := startChild(t)
			require.NoError(t, c.Process.Signal(signal))
			assert.NoError(t, c.Wait(), "the exit status is 0: %s", c.output)
			assert.False(t, isAlive(c.postmaster), "PostgreSQL has ended before")
		})
	}
}

func TestKilledServerLeavesNoPostgres(t *testing.T) {
	t.Parallel()
	c := startChild(t)
	require.NoError(t, c.Process.Kill())
	require.Error(t, c.Wait())
	c.assertNoPostgres(t)
}

// The first Ctrl-C waits for an e-mail that does not end; the second does not.
func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	defer hold.Release()
	world := newMailServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Mail, Hold: hold}}})
	env := settingsFor(world)
	var variables []string
	for name, value := range env {
		variables = append(variables, name+"="+value)
	}
	c := startChild(t, variables...)
	s := &server{t: t, url: c.output.address, client: newClient(t), output: c.output}
	s.signUp("club-norte", "Ana", "ana@example.net")
	awaitClosed(t, hold.Reached())

	require.NoError(t, c.Process.Signal(syscall.SIGINT))
	awaitClosed(t, c.output.stopping)
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for began := time.Now(); time.Since(began) < patience; {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit)
			assert.Equal(t, syscall.SIGINT, exit.Sys().(syscall.WaitStatus).Signal())
			assert.Less(t, time.Since(began), 20*time.Second, "it did not wait for the runner")
			c.assertNoPostgres(t)
			return
		case <-again.C: // The first one may still be being dealt with.
			_ = c.Process.Signal(syscall.SIGINT)
		}
	}
	require.Fail(t, "the server did not end")
}
