// Package browser shows web pages and e-mails in a headless Chromium, for
// tests: what they look like, how they answer to clicks and keys, and what they
// complain of. It reaches this machine and nothing else, whatever a page asks
// for.
package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/testtools"
)

// Limits of what is done with the browser, so that a fault ends as a failed
// test and not as one that hangs.
const (
	startLimit  = 2 * time.Minute  // for the start of a browser or tab
	actionLimit = 30 * time.Second // for all else
)

// names are those of Chromium and its kin.
var names = []string{
	"chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"/Applications/Chromium.app/Contents/MacOS/Chromium",
	"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// A Browser is a running Chromium. Its pages may be used at the same time.
type Browser struct{ ctx context.Context }

// Open starts a Chromium, which takes about a second; subtests may share it.
// When the test ends, it is closed, and all its files are removed. Without
// Chromium the test is skipped, or fails, as package testtools has it.
func Open(t testing.TB) *Browser {
	t.Helper()
	path := testtools.FindAny(t, "chromium", names...)
	home, err := os.MkdirTemp("", "buzon-browser-") // t.TempDir is too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(home)) })

	b, end, err := launch(path, home, startLimit)
	if err != nil {
		t.Fatalf("browser: start %s: %v", path, err)
	}
	t.Cleanup(func() { assert.NoError(t, end()) })
	return b
}

// launch starts the program; home is a folder that it may write to. The
// function that it returns ends the browser, and waits for that.
func launch(path, home string, limit time.Duration) (*Browser, func() error, error) {
	allocator, kill := chromedp.NewExecAllocator(context.Background(), options(path, home)...)
	ctx, cancel := chromedp.NewContext(allocator)
	if err := start(ctx, cancel, limit); err != nil {
		kill()
		return nil, nil, err
	}
	end := func() error {
		defer kill()
		return shut(ctx)
	}
	return &Browser{ctx}, end, nil
}

func options(path, home string) []chromedp.ExecAllocatorOption {
	return append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path),
		// A user may have no home that can be written to.
		chromedp.Env("HOME="+home, "TMPDIR="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home),
		// The sandbox refuses root, and containers often refuse it to others.
		// The pages are a test's own.
		chromedp.NoSandbox,
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost, EXCLUDE [::1]"),
	)
}

// start gives a context its browser or tab. These live as long as the context
// that is used first, so that it cannot be one with a deadline.
func start(ctx context.Context, cancel context.CancelFunc, limit time.Duration) error {
	timer := time.AfterFunc(limit, cancel)
	err := chromedp.Do(ctx)
	if !timer.Stop() {
		return errors.Join(fmt.Errorf("not within %s", limit), err)
	}
	if err != nil {
		cancel()
	}
	return err
}

// shut closes the browser or tab of a context, and waits for that.
func shut(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, actionLimit)
	defer cancel()
	if err := chromedp.Cancel(ctx); err != nil {
		return fmt.Errorf("browser: close: %w", err)
	}
	return nil
}
