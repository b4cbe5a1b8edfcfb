package postgres

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// archive is laid out like the real one, with programs that only know their
// version.
//
//go:embed testdata/binaries.txz
var archive []byte

// repository serves the archive as a Maven repository would, and counts.
type repository struct {
	*httptest.Server
	downloads atomic.Int64
}

func newRepository(t *testing.T) *repository {
	t.Helper()
	var jar bytes.Buffer
	w := zip.NewWriter(&jar)
	entry, err := w.Create("postgres.txz")
	require.NoError(t, err)
	_, err = entry.Write(archive)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	sum := sha256.Sum256(jar.Bytes())

	r := &repository{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if strings.HasSuffix(req.URL.Path, ".sha256") {
			_, _ = w.Write([]byte(hex.EncodeToString(sum[:])))
			return
		}
		r.downloads.Add(1)
		_, _ = w.Write(jar.Bytes())
	}))
	t.Cleanup(func() {
		r.Close()
		http.DefaultClient.CloseIdleConnections() // the library's client
	})
	return r
}

// keepLogs keeps the log that the library leaves in the temporary folder at
// each fetch.
func keepLogs(t *testing.T) { t.Setenv("TMPDIR", t.TempDir()) }

func TestFetchOnce(t *testing.T) {
	keepLogs(t)
	base := t.TempDir()
	from := newRepository(t)
	var log bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&log, nil))

	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			b, err := fetch(t.Context(), base, from.URL, logger)
			assert.NoError(t, err)
			assert.Equal(t, Binaries{Folder: filepath.Join(base, "binaries-18.3.0", "bin"), Major: 18}, b)
		})
	}
	group.Wait()
	assert.EqualValues(t, 1, from.downloads.Load())
	assert.Equal(t, 1, strings.Count(log.String(), "fetching PostgreSQL"))
	left, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing but the binaries stays")
}

func TestFetchLosesARace(t *testing.T) {
	keepLogs(t)
	base := t.TempDir()
	from := newRepository(t)
	folder := filepath.Join(base, "there")
	require.NoError(t, fetchInto(base, folder, from.URL))
	require.NoError(t, fetchInto(base, folder, from.URL), "another process was faster")
	_, err := inspect(t.Context(), filepath.Join(folder, "bin"))
	require.NoError(t, err)
}

func TestFetchFails(t *testing.T) {
	keepLogs(t)
	base := t.TempDir()
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	_, err := fetch(t.Context(), base, empty.URL, nil)
	require.ErrorContains(t, err, "fetching PostgreSQL 18.3.0")
	require.ErrorContains(t, err, "no version found")
	left, err := os.ReadDir(base)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestFindTellsWhatToDo(t *testing.T) {
	keepLogs(t)
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()

	_, err := find(t.Context(), nil, func() (Binaries, error) { return fetch(t.Context(), t.TempDir(), empty.URL, nil) })
	require.ErrorContains(t, err, "install PostgreSQL 14 or newer, or set "+EnvBinaries)
	assert.NotContains(t, err.Error(), "\n", "one sentence")
}
