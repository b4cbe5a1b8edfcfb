package pgtest

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests, stops the server that they shared, and fails
// when they left a goroutine behind. It does not return:
//
//	func TestMain(m *testing.M) { pgtest.Main(m) }
func Main(m *testing.M, options ...goleak.Option) {
	code := m.Run()
	if err := finish(code == 0, options); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// finish looks for leaks only where the tests passed: what failed may well
// leave something behind.
func finish(passed bool, options []goleak.Option) error {
	if err := shared.stop(); err != nil || !passed {
		return err
	}
	if err := goleak.Find(options...); err != nil {
		return fmt.Errorf("pgtest: %w", err)
	}
	return nil
}
