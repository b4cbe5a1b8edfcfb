package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// EnvBinaries names the environment variable that holds the folder of initdb
// and postgres. It comes before all other places; a folder that lacks them is
// an error.
const EnvBinaries = "BUZON_POSTGRES_BIN"

// MinMajor is the oldest major version that [Find] accepts.
const MinMajor = 14

// Binaries are the programs of one PostgreSQL installation.
type Binaries struct {
	Folder string // the absolute folder of initdb and postgres
	Major  int    // the major version, such as 15
}

// Find looks for an installed PostgreSQL, and fetches one where there is none.
// The order of the places is in the package documentation; of several versions
// in one place, the newest is taken, and versions before [MinMajor] are passed
// over. The error says in one sentence what to install or set. ctx bounds the
// search, but a fetch that has begun is not interrupted.
//
// A fetch takes a minute on a slow line, so that its start is logged; a nil
// logger logs nothing.
func Find(ctx context.Context, logger *slog.Logger) (Binaries, error) {
	if folder := os.Getenv(EnvBinaries); folder != "" {
		b, err := inspect(ctx, folder)
		if err != nil {
			return Binaries{}, fmt.Errorf("postgres: environment variable %s=%q: %w", EnvBinaries, folder, err)
		}
		return b, nil
	}
	return find(ctx, installed(), func() (Binaries, error) { return fetched(ctx, logger) })
}

// find looks in folders, then fetches.
func find(ctx context.Context, folders []string, fetch func() (Binaries, error)) (Binaries, error) {
	if b, ok := firstUsable(ctx, folders); ok {
		return b, nil
	}
	b, err := fetch()
	if err != nil {
		return Binaries{}, fmt.Errorf("postgres: no PostgreSQL found: install PostgreSQL %d or newer, or set %s to the folder of its initdb and postgres (fetching one failed: %w)", MinMajor, EnvBinaries, err)
	}
	return b, nil
}

// installed returns the folders in which an installation can be, in the order
// in which they are tried.
func installed() []string {
	var folders []string
	for _, program := range []string{"postgres", "initdb"} {
		if folder, ok := onPath(program); ok {
			folders = append(folders, folder)
		}
	}
	for _, pattern := range []string{
		"/usr/lib/postgresql/*/bin",         // Debian, Ubuntu
		"/usr/libexec/postgresql*",          // Alpine
		"/usr/pgsql-*/bin",                  // Red Hat with the PostgreSQL project's packages
		"/opt/homebrew/opt/postgresql*/bin", // Homebrew on Apple silicon
		"/usr/local/opt/postgresql*/bin",    // Homebrew on Intel
		"/home/linuxbrew/.linuxbrew/opt/postgresql*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
		`C:\Program Files\PostgreSQL\*\bin`,
	} {
		folders = append(folders, newestFirst(pattern)...)
	}
	return folders
}

// onPath returns the folder of a program on the PATH. Links are followed,
// since a link stands alone and its program has the others beside it.
func onPath(program string) (string, bool) {
	path, err := exec.LookPath(program)
	if err != nil {
		return "", false
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	return filepath.Dir(path), true
}

// newestFirst returns what matches the pattern, the highest number in the
// place of the asterisk first.
func newestFirst(pattern string) []string {
	matches, _ := filepath.Glob(pattern) // The only error is a bad pattern; ours are constants.
	before, _, _ := strings.Cut(pattern, "*")
	version := func(path string) int { return numberIn(strings.TrimPrefix(path, before)) }
	slices.SortStableFunc(matches, func(a, b string) int { return version(b) - version(a) })
	return matches
}

var numberPattern = regexp.MustCompile(`\d+`)

// numberIn returns the first number in text, or 0.
func numberIn(text string) int {
	n, err := strconv.Atoi(numberPattern.FindString(text))
	if err != nil {
		return 0
	}
	return n
}

func firstUsable(ctx context.Context, folders []string) (Binaries, bool) {
	for _, folder := range folders {
		if b, err := inspect(ctx, folder); err == nil && b.Major >= MinMajor {
			return b, true
		}
	}
	return Binaries{}, false
}

// inspect checks that a folder holds both programs and asks for their version.
func inspect(ctx context.Context, folder string) (Binaries, error) {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return Binaries{}, err
	}
	b := Binaries{Folder: folder}
	for _, path := range []string{b.initdb(), b.postgres()} {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return Binaries{}, fmt.Errorf("the folder holds no %s", filepath.Base(path))
		}
	}
	out, err := exec.CommandContext(ctx, b.postgres(), "--version").Output() //nolint:gosec // The very program that is asked about.
	if err != nil {
		return Binaries{}, errors.Join(ctx.Err(), fmt.Errorf("asking postgres for its version: %w", err))
	}
	// "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)"
	_, version, _ := strings.Cut(string(out), "(PostgreSQL)")
	if b.Major = numberIn(version); b.Major == 0 {
		return Binaries{}, fmt.Errorf("postgres answers %q when asked for its version", strings.TrimSpace(string(out)))
	}
	return b, nil
}

func (b Binaries) initdb() string   { return b.program("initdb") }
func (b Binaries) postgres() string { return b.program("postgres") }

func (b Binaries) program(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(b.Folder, name)
}
