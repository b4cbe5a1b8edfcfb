//go:build !unix

package postgres

import (
	"context"
	"os"
	"os/exec"
)

// A process is a running server.
type process struct {
	server *Server
	alive  context.Context // ends when the server has ended
}

// startProcess starts the server. Nobody watches over this process's death
// here.
func (s *Server) startProcess(log *os.File, args ...string) (*process, error) {
	cmd := exec.Command(s.config.Binaries.postgres(), args...)
	cmd.Dir = s.data()
	cmd.Env = childEnv()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	alive, ended := context.WithCancel(context.Background())
	go func() {
		defer ended()
		_ = cmd.Wait() // The log says why a server ended; its status does not.
	}()
	return &process{server: s, alive: alive}, nil
}

// order asks the server to shut down in a mode, by pg_ctl: there are no
// signals here.
func (p *process) order(m mode) error {
	if p.alive.Err() != nil {
		return nil
	}
	name := map[mode]string{fast: "fast", immediate: "immediate"}[m]
	cmd := exec.Command(p.server.config.Binaries.program("pg_ctl"), "stop", "--no-wait", "--mode="+name, "--pgdata="+p.server.data())
	cmd.Env = childEnv()
	return cmd.Run()
}

func (p *process) release() {}

// killGroup leaves a command as it is: its context ends it alone.
func killGroup(*exec.Cmd) {}

// A janitor does nothing here.
type janitor struct{}

func startJanitor(*owner, string) (*janitor, error) { return &janitor{}, nil }

func (*janitor) dismiss() {}
