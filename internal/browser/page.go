package browser

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
)

// A Screen is what a page is shown on.
type Screen struct {
	Width, Height int  // in CSS pixels; zero means 1280 and 800
	Mobile        bool // a telephone or tablet, which heeds the viewport that a page asks for
	Dark          bool // the user prefers dark colours
	NoImages      bool // images are not loaded; those inside the page (data:) are shown all the same
}

// A Page is one tab, with cookies of its own. Its methods fail the test where
// they do not succeed within 30 seconds. It is used by one goroutine.
//
// Selectors are those of CSS, of which the first match is meant. Methods wait
// for it.
type Page struct {
	t       testing.TB
	ctx     context.Context
	cancel  context.CancelFunc
	screen  Screen
	console func() (chromedp.ConsoleMessage, error, bool) // waits for the next message
	blocker sync.WaitGroup                                // of blockImages
}

// Page opens a tab, which is closed when the test ends.
func (b *Browser) Page(t testing.TB, screen Screen) *Page {
	t.Helper()
	screen.Width, screen.Height = cmp.Or(screen.Width, 1280), cmp.Or(screen.Height, 800)
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	p := &Page{t: t, ctx: ctx, cancel: cancel, screen: screen}
	t.Cleanup(p.blocker.Wait)
	if err := start(ctx, cancel, startLimit); err != nil {
		t.Fatalf("browser: open a tab: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, shut(ctx)) })
	var stop func()
	p.console, stop = iter.Pull2(chromedp.Console(ctx))
	t.Cleanup(stop)
	p.show()
	if screen.NoImages {
		p.blockImages()
	}
	return p
}

func (p *Page) show() {
	p.t.Helper()
	var options []chromedp.EmulateViewportOption
	if p.screen.Mobile {
		options = append(options, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	do(p, "set the viewport", chromedp.EmulateViewport(int64(p.screen.Width), int64(p.screen.Height), options...))
	scheme := "light"
	if p.screen.Dark {
		scheme = "dark"
	}
	call(p, "set the colour scheme", emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}

// Load opens a URL and waits until the page and all that it names is loaded.
func (p *Page) Load(url string) {
	p.t.Helper()
	do(p, "load "+url, chromedp.Navigate(url))
}

// LoadHTML is [Page.Load] with a document, which a local server delivers.
func (p *Page) LoadHTML(document string) {
	p.t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, document) // a browser that left shows at its end
	})
	server := httptest.NewServer(mux)
	p.t.Cleanup(server.Close)
	p.Load(server.URL)
}

// Wait returns when the element is visible.
func (p *Page) Wait(selector string) {
	p.t.Helper()
	do(p, "wait for "+selector, chromedp.WaitVisible(chromedp.CSS(selector)))
}

// Click clicks into the middle of the element, once it is visible. It does not
// wait for what the click brings about.
func (p *Page) Click(selector string) {
	p.t.Helper()
	do(p, "click "+selector, chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Type types text into a field, in place of what it holds.
func (p *Page) Type(selector, text string) {
	p.t.Helper()
	field := chromedp.CSS(selector)
	do(p, "type into "+selector, chromedp.Steps(chromedp.Clear(field, chromedp.NodeVisible), chromedp.SendKeys(field, text)))
}

// Text returns the visible text of the element.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return do(p, "read the text of "+selector, chromedp.Text(chromedp.CSS(selector), chromedp.NodeVisible))
}

// Screenshot returns a picture of the whole page, in PNG.
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	return do(p, "take a screenshot", chromedp.FullScreenshot(100))
}

// Overflow returns by how many CSS pixels the page is wider than its screen;
// zero means not at all. On a mobile screen a page that does not ask for a
// viewport is about 980 pixels wide.
func (p *Page) Overflow() int {
	p.t.Helper()
	return max(0, Eval[int](p, "document.documentElement.scrollWidth")-p.screen.Width)
}

// Eval returns the value of a JavaScript expression, or of the promise that
// the expression is. Where T cannot be nil, null and undefined fail the test.
func Eval[T any](p *Page, expression string) T {
	p.t.Helper()
	return do(p, "evaluate "+expression, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// do runs one action within its limit.
func do[T any](p *Page, what string, action chromedp.Action[T]) T {
	p.t.Helper()
	value, err := run(p.ctx, actionLimit, action)
	if err != nil {
		p.t.Fatalf("browser: %s: %v", what, err)
	}
	return value
}

func run[T any](ctx context.Context, limit time.Duration, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("not within %s", limit)
	}
	return value, err
}

// call is do for a command of the protocol.
func call[P, R any](p *Page, what string, command cdp.Command[P, R], params P) {
	p.t.Helper()
	do(p, what, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, command, params) })
}
