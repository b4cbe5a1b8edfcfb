//go:build unix

package postgres

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain also is the child process that TestDiesWithItsParent kills.
func TestMain(m *testing.M) {
	if folder, ok := os.LookupEnv(envChild); ok {
		runChild(folder)
		return
	}
	goleak.VerifyTestMain(m)
}
