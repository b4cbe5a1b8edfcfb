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
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrStopped is returned by what cannot be done to a server after
// [Server.Stop].
var ErrStopped = errors.New("postgres: the server has been stopped")

const (
	// startLimit bounds a start whose context has no end; recovery after a
	// crash is part of it.
	startLimit = 2 * time.Minute
	// killLimit is how long an immediate shutdown may take. PostgreSQL kills
	// its own children after five seconds.
	killLimit = 15 * time.Second
	// portTries is how many ports are tried when others keep taking them.
	portTries = 5
)

// A Server is a private PostgreSQL server. Its methods may be called from
// several goroutines; those that start or stop it wait for each other.
type Server struct {
	config    Config
	folder    string
	temporary *janitor // who cleans up after this process; nil for a folder that is kept
	owner     *owner
	password  string
	port      int

	choosePort func() (int, error)

	mu      sync.Mutex
	process *process // nil while the server is down
	stopped bool
}

// Start finds the binaries, makes a cluster where there is none, and starts a
// server, ready to be connected to. ctx bounds the start, which never takes
// more than two minutes, and not the server's life; call [Server.Stop] for its
// end. Where the server does not come up, the error quotes its log.
func Start(ctx context.Context, config Config) (_ *Server, err error) {
	config, err = config.validated()
	if err != nil {
		return nil, err
	}
	if config.Binaries == (Binaries{}) {
		if config.Binaries, err = Find(ctx, config.Logger); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()

	s := newServer(config)
	if err := s.prepareFolder(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.removeTemporary())
		}
	}()
	if err := s.ensureCluster(ctx); err != nil {
		return nil, err
	}
	if s.password, err = s.readPassword(); err != nil {
		return nil, err
	}
	if err := s.launchOnFreePort(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func newServer(config Config) *Server {
	return &Server{config: config, folder: config.Folder, choosePort: freePort}
}

// prepareFolder finds out whose the cluster is, and creates the folder.
func (s *Server) prepareFolder() (err error) {
	cluster := "" // a temporary one is nobody's yet
	if s.folder != "" {
		cluster = filepath.Join(s.folder, clusterName)
	}
	if s.owner, err = ownerFor(cluster); err != nil {
		return err
	}
	if err := s.owner.checkReach(s.config.Binaries.Folder); err != nil {
		return err
	}
	if s.folder == "" {
		return s.makeTemporary()
	}
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	return s.owner.checkReach(s.folder)
}

func (s *Server) makeTemporary() (err error) {
	if s.folder, err = temporaryFolder(s.owner); err != nil {
		return err
	}
	if s.temporary, err = startJanitor(s.owner, s.folder); err != nil {
		return errors.Join(fmt.Errorf("postgres: %w", err), os.Remove(s.folder))
	}
	return nil
}

// removeTemporary removes the folder of a server that is down for good, if it
// is not to be kept.
func (s *Server) removeTemporary() error {
	if s.temporary == nil {
		return nil
	}
	err := os.RemoveAll(s.folder)
	s.temporary.dismiss()
	return err
}

// launchOnFreePort starts the server on a port that nobody has, and tries
// another one when somebody took it in between.
func (s *Server) launchOnFreePort(ctx context.Context) error {
	for try := 1; ; try++ {
		port, err := s.choosePort()
		if err != nil {
			return err
		}
		s.port = port
		err = s.launch(ctx)
		if err == nil || ctx.Err() != nil || try == portTries || isFree(port) {
			return err
		}
	}
}

// launch starts the server on its port and waits until it can be connected to.
func (s *Server) launch(ctx context.Context) error {
	log, offset, err := s.openLog()
	if err != nil {
		return fmt.Errorf("postgres: start: %w", err)
	}
	defer log.Close()

	p, err := s.startProcess(log, s.arguments()...)
	if err != nil {
		return fmt.Errorf("postgres: start: %w", err)
	}
	if err := s.awaitReady(ctx, p); err != nil {
		stopErr := p.end(context.WithoutCancel(ctx), immediate)
		return fmt.Errorf("postgres: start: %w: %s", errors.Join(err, stopErr), s.logSince(offset))
	}
	s.process = p
	return nil
}

func (s *Server) arguments() []string {
	args := []string{
		"-D", s.data(),
		"-c", "listen_addresses=" + host,
		"-c", "port=" + strconv.Itoa(s.port),
		"-c", "unix_socket_directories=",
	}
	for name, value := range s.config.Settings {
		args = append(args, "-c", name+"="+value)
	}
	return args
}

// awaitReady connects until it can, or until there is no hope: the server has
// ended, or refuses for another reason than that it is still starting.
func (s *Server) awaitReady(ctx context.Context, p *process) error {
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := s.tryConnecting(ctx, p)
		if err == nil || !isPassing(err) {
			return err
		}
		select {
		case <-p.alive.Done():
			return errors.New("the server ended at once")
		case <-ctx.Done():
			return fmt.Errorf("%w while waiting for the server: %w", ctx.Err(), err)
		case <-again.C:
		}
	}
}

// tryConnecting gives up when the server ends: what has its port may be
// somebody who never answers.
func (s *Server) tryConnecting(ctx context.Context, p *process) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.alive, cancel)()
	conn, err := pgconn.Connect(ctx, s.URL(superuser))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// isPassing reports whether a server that is starting can be the reason for a
// connection's failure.
func isPassing(err error) bool {
	var malformed *pgconn.ParseConfigError // by a variable such as PGSERVICE
	if errors.As(err, &malformed) {
		return false
	}
	var refused *pgconn.PgError
	return !errors.As(err, &refused) || refused.Code == "57P03" // cannot_connect_now
}

// URL returns the connection string of a database on the server, which need
// not exist. It holds the superuser's password. It stays the same as long as
// the Server lives; the next one on the same folder has another port.
func (s *Server) URL(database string) string {
	u := url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, s.password),
		Host:     net.JoinHostPort(host, strconv.Itoa(s.port)),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Folder returns the folder of the cluster and the log.
func (s *Server) Folder() string { return s.folder }

// Stop shuts the server down for good, ending the sessions that are open, and
// waits for its end. A temporary folder is removed. When ctx ends first, the
// shutdown becomes an immediate one, which the cluster recovers from at its
// next start, and Stop still waits for it. A second Stop does nothing.
func (s *Server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	if err := s.shutDown(ctx, fast); err != nil {
		return err
	}
	s.stopped = true
	return s.removeTemporary()
}

// Halt shuts the server down like [Server.Stop], for [Server.Resume] to start
// it again: an outage that was planned. A server that is down stays down.
func (s *Server) Halt(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shutDown(ctx, fast)
}

// Crash ends the server at once, as a power cut would, for [Server.Resume] to
// start it again: sessions get no word, nothing is flushed. A server that is
// down stays down.
func (s *Server) Crash(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shutDown(ctx, immediate)
}

// Resume starts a server that is down again, with the same port, password and
// databases, and waits until it can be connected to. A server that is up is
// left alone. After [Server.Stop] the error is [ErrStopped].
func (s *Server) Resume(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return ErrStopped
	}
	if s.isUp() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return s.launch(ctx)
}

// isUp also takes note of a server that ended by itself.
func (s *Server) isUp() bool {
	if s.process == nil {
		return false
	}
	if s.process.alive.Err() == nil {
		return true
	}
	s.process.release()
	s.process = nil
	return false
}

func (s *Server) shutDown(ctx context.Context, m mode) error {
	if !s.isUp() {
		return nil
	}
	if err := s.process.end(ctx, m); err != nil {
		return fmt.Errorf("postgres: stop: %w", err)
	}
	s.process = nil
	return nil
}
