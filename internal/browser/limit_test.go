package browser

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

func TestActionsEnd(t *testing.T) {
	t.Parallel()
	p := Open(t).Page(t, Screen{})
	for name, action := range map[string]chromedp.Action[chromedp.Void]{
		"element that never comes": chromedp.WaitVisible(chromedp.CSS("#never")),
		"promise that never ends":  chromedp.Evaluate[chromedp.Void]("new Promise(() => {})", chromedp.EvalAwaitPromise),
		"script that never ends":   chromedp.Evaluate[chromedp.Void]("for (;;) {}"),
	} {
		_, err := run(p.ctx, 100*time.Millisecond, action)
		require.EqualError(t, err, "not within 100ms", name)
	}
}

func TestBrowserThatDoesNotStart(t *testing.T) {
	t.Parallel()
	for line, test := range map[string]struct {
		limit time.Duration
		words string
	}{
		"exec sleep 1000":   {100 * time.Millisecond, "not within 100ms"},
		"echo no >&2; exit": {startLimit, "no"},
	} {
		path := filepath.Join(t.TempDir(), "chromium")
		require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n"), 0o700))
		_, _, err := launch(path, t.TempDir(), test.limit)
		require.ErrorContains(t, err, test.words)
	}
}
