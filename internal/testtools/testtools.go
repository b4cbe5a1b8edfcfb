// Package testtools finds the programs that tests look at results with, such
// as a browser or poppler's pdftoppm. It does not install them.
package testtools

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// RequireTools is the environment variable that makes a missing program fail
// a test instead of skipping it, where it is 1. The script .ci/run sets it, so
// that nothing is skipped there.
const RequireTools = "BUZON_REQUIRE_TOOLS"

// elsewhere are folders that a user's PATH may lack.
var elsewhere = []string{"/usr/local/bin", "/usr/bin", "/usr/sbin", "/opt/homebrew/bin"}

// Find returns the path of the program name, which is on PATH or in one of the
// usual folders. Without it the test is skipped with a sentence that names the
// Debian package to install; under [RequireTools] the test fails.
func Find(t testing.TB, name, debianPackage string) string {
	t.Helper()
	return FindAny(t, debianPackage, name)
}

// FindAny is [Find] for a program that has several names, of which the first
// that is there is taken. A name may also be a whole path, as macOS has it for
// applications.
func FindAny(t testing.TB, debianPackage string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path := find(name); path != "" {
			return path
		}
	}
	Missing(t, fmt.Sprintf("%s is not installed: install Debian's package %s", strings.Join(names, " or "), debianPackage))
	return ""
}

// Missing ends a test for want of something that reason says how to install:
// skipped, or failed under [RequireTools].
func Missing(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv(RequireTools) == "1" {
		t.Fatal(reason)
	}
	t.Skip(reason)
}

// find returns the path of a program, empty where there is none.
func find(name string) string {
	path, err := exec.LookPath(name)
	if err == nil || strings.ContainsRune(name, os.PathSeparator) {
		return path
	}
	for _, folder := range elsewhere {
		if path, err = exec.LookPath(folder + "/" + name); err == nil {
			return path
		}
	}
	return ""
}
