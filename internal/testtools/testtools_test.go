package testtools

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A recorder keeps how a test ended.
type recorder struct {
	testing.TB
	ended, reason string
}

func (r *recorder) Helper()            {}
func (r *recorder) Skip(words ...any)  { r.end("skipped", words) }
func (r *recorder) Fatal(words ...any) { r.end("failed", words) }

func (r *recorder) end(how string, words []any) {
	r.ended, r.reason = how, fmt.Sprint(words...)
	runtime.Goexit()
}

// record runs a test function to its end.
func record(test func(testing.TB)) *recorder {
	r := &recorder{ended: "passed"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	return r
}

// program makes a file that can be run, and returns its folder.
func program(t *testing.T, name string) string {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), 0o700))
	return folder
}

// No test here is parallel: they change the environment.

func TestFindLooksOnPathAndInTheUsualFolders(t *testing.T) {
	t.Setenv(RequireTools, "1")
	onPath, usual := program(t, "buzon-one"), program(t, "buzon-two")
	t.Setenv("PATH", onPath)
	before := elsewhere
	t.Cleanup(func() { elsewhere = before })
	elsewhere = []string{usual}
	assert.Equal(t, filepath.Join(onPath, "buzon-one"), Find(t, "buzon-one", "one"))
	assert.Equal(t, filepath.Join(usual, "buzon-two"), Find(t, "buzon-two", "two"))
}

func TestFindAnyTakesTheFirstThatIsThere(t *testing.T) {
	t.Setenv(RequireTools, "1")
	folder := program(t, "buzon-tool")
	path := filepath.Join(folder, "buzon-tool")
	t.Setenv("PATH", folder)
	assert.Equal(t, path, FindAny(t, "tool", "buzon-missing", "buzon-tool"))
	assert.Equal(t, path, FindAny(t, "tool", filepath.Join(folder, "missing"), path), "whole paths")
}

func TestMissingProgramSkipsOrFails(t *testing.T) {
	for value, want := range map[string]string{"": "skipped", "0": "skipped", "1": "failed"} {
		t.Setenv(RequireTools, value)
		r := record(func(t testing.TB) { FindAny(t, "the-package", "buzon-missing", "/buzon/missing") })
		assert.Equal(t, want, r.ended, "%s=%q", RequireTools, value)
		assert.Equal(t, "buzon-missing or /buzon/missing is not installed: install Debian's package the-package", r.reason)
	}
}
