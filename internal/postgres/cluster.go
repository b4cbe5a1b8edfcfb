package postgres

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// What a server's folder holds: the cluster's folder, with the data and the
// password of its superuser, and the server's log.
const (
	clusterName  = "cluster"
	dataName     = "data"
	passwordName = "password"
	logName      = "server.log"

	superuser = "postgres"
)

// ensureCluster makes a cluster where the folder has none, and checks that the
// binaries can run the one that it has.
func (s *Server) ensureCluster(ctx context.Context) error {
	major, err := os.ReadFile(filepath.Join(s.data(), "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return s.initCluster(ctx)
	}
	if err != nil {
		return fmt.Errorf("postgres: the cluster in %s: %w", s.folder, err)
	}
	if got := numberIn(string(major)); got != s.config.Binaries.Major {
		return fmt.Errorf("postgres: the cluster in %s was made by PostgreSQL %d and cannot run on %d: set %s to the folder of that version's programs, or use another folder",
			s.folder, got, s.config.Binaries.Major, EnvBinaries)
	}
	return nil
}

// initCluster makes the cluster aside and moves it to its place in one step,
// so that a process that dies here leaves nothing that looks like a cluster.
func (s *Server) initCluster(ctx context.Context) error {
	aside, err := os.MkdirTemp(s.folder, "init-")
	if err != nil {
		return fmt.Errorf("postgres: make a cluster: %w", err)
	}
	defer os.RemoveAll(aside)

	password := filepath.Join(aside, passwordName)
	if err := os.WriteFile(password, []byte(rand.Text()), 0o600); err != nil {
		return fmt.Errorf("postgres: make a cluster: %w", err)
	}
	if err := errors.Join(s.owner.take(aside), s.owner.take(password), s.owner.checkReach(aside)); err != nil {
		return err
	}
	if err := s.runInitdb(ctx, aside, password); err != nil {
		return err
	}
	// Where another process was faster, its cluster is as good.
	err = os.Rename(aside, filepath.Join(s.folder, clusterName))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("postgres: make a cluster: %w", err)
	}
	return nil
}

func (s *Server) runInitdb(ctx context.Context, folder, passwordFile string) error {
	args := []string{
		"--pgdata=" + filepath.Join(folder, dataName),
		"--username=" + superuser,
		"--pwfile=" + passwordFile,
		"--auth=scram-sha-256",
		"--encoding=UTF8",
		"--locale=C", // the one locale that every system has, and sorts alike
	}
	if !s.config.syncs() {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, s.config.Binaries.initdb(), args...) //nolint:gosec // The program that Find found.
	cmd.Dir = folder
	cmd.Env = childEnv()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	killGroup(cmd)
	s.owner.runAs(cmd)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("postgres: initdb: %w: %s", errors.Join(ctx.Err(), err), lastLines(output.Bytes()))
	}
	return nil
}

func (s *Server) data() string { return filepath.Join(s.folder, clusterName, dataName) }

func (s *Server) readPassword() (string, error) {
	password, err := os.ReadFile(filepath.Join(s.folder, clusterName, passwordName))
	if err != nil {
		return "", fmt.Errorf("postgres: the cluster's password: %w", err)
	}
	return strings.TrimSpace(string(password)), nil
}

// childEnv is what the programs of PostgreSQL see of this process's
// environment: none of its secrets, and no PGxxx that would change what they
// do. Messages are in English, since they end in errors.
func childEnv() []string {
	env := []string{"LC_ALL=C"}
	for _, name := range []string{"PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ", "TMPDIR", "SystemRoot", "TEMP", "TMP"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}
