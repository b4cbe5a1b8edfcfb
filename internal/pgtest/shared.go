package pgtest

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/postgres"
)

// EnvDatabaseURL names the environment variable that holds the URL of a
// database on a server to use instead of a private one.
const EnvDatabaseURL = "BUZON_TEST_DATABASE_URL"

// shared is the server of this process's tests.
var shared sharedServer

type sharedServer struct {
	mu     sync.Mutex
	server *postgres.Server // nil where the server is somebody else's
	source *source
	err    error
}

func sharedSource(t testing.TB) *source {
	t.Helper()
	s, err := shared.get()
	require.NoError(t, err)
	return s
}

// get starts the server at the first call, whichever test that is. An error
// stays: what failed once would fail each test after a long wait.
func (s *sharedServer) get() (*source, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.source == nil && s.err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		defer cancel()
		s.err = s.start(ctx)
	}
	return s.source, s.err
}

func (s *sharedServer) start(ctx context.Context) (err error) {
	if url := os.Getenv(EnvDatabaseURL); url != "" {
		s.source, err = newSource(ctx, url, false)
		return err
	}
	if s.server, err = postgres.Start(ctx, postgres.Config{Settings: testSettings}); err != nil {
		return err
	}
	s.source, err = newSource(ctx, s.server.URL("postgres"), true)
	return err
}

func (s *sharedServer) stop() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.source != nil {
		s.source.close()
	}
	if s.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return s.server.Stop(ctx)
}
