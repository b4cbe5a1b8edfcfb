package preview_test

import (
	"bytes"
	_ "embed"
	"fmt"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/examples/internal/preview"
	"github.com/buzon-go/buzon/internal/browser"
)

// look is a function that lists what is wrong with how a window looks: text that
// cannot be read on its background or is cut off, a title or a button that is
// not to be seen, a page wider than its window.
//
//go:embed look_test.js
var look string

// frames is a page that shows a document in frames of several sizes and colours.
//
//go:embed frames_test.html
var frames string

// newSite serves the sample brands, and returns the address. What is below
// "open/" is the same without the sandbox, so that the page "frames" can look
// into its frames.
func newSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	handler := newHandler(t, preview.SampleBrands(server.URL)...)
	mux.Handle("/", handler)
	mux.Handle("/open/", http.StripPrefix("/open", unlocked(handler)))
	mux.HandleFunc("GET /frames", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(frames)) })
	return server.URL + "/"
}

func unlocked(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, r)
		policy := strings.NewReplacer("sandbox; ", "", "frame-ancestors 'none'", "frame-ancestors 'self'").
			Replace(recorder.Header().Get("Content-Security-Policy"))
		w.Header().Set("Content-Type", recorder.Header().Get("Content-Type"))
		w.Header().Set("Content-Security-Policy", policy)
		_, _ = w.Write(recorder.Body.Bytes())
	})
}

func TestInABrowser(t *testing.T) {
	t.Parallel()
	b, site := browser.Open(t), newSite(t)
	for name, test := range map[string]func(*testing.T, *browser.Browser, string){
		"a policy lets in what is needed":  policyLetsIn,
		"images are off where so chosen":   imagesAreOff,
		"frames have the colours chosen":   framesHaveTheColours,
		"all is reached from the keyboard": keyboardReachesAll,
		"faults of the look are found":     faultsAreFound,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, b, site)
		})
	}
	for name, screen := range map[string]browser.Screen{
		"light": {}, "dark": {Dark: true}, "light without images": {NoImages: true}, "dark without images": {Dark: true, NoImages: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			screen.Width = 1530
			page := b.Page(t, screen)
			page.Load(site + "frames")
			s := sheet{t, page, screen, name}
			s.emails()
			s.pages()
		})
	}
}

// A sheet shows one document at a time in frames of every width.
type sheet struct {
	t      *testing.T
	page   *browser.Page
	screen browser.Screen
	name   string
}

// emails looks at every e-mail, in every language and brand. The second brand
// has no image, so that there is nothing to block.
func (s sheet) emails() {
	brands := []string{"1", "2"}
	if s.screen.NoImages {
		brands = brands[:1]
	}
	for _, email := range emails {
		for _, language := range languages {
			for _, brand := range brands {
				s.looksWell(email+"/"+brand+"/html?idioma="+language, fmt.Sprintf("%s-%s-%s", email, language, brand))
			}
		}
	}
}

func (s sheet) pages() {
	for name, path := range map[string]string{
		"overview": "", "overview-pt": "?idioma=pt", "missing": "nothing",
		"page": "purchase-confirmed-1", "page-wide-dark": "welcome-1?ancho=800&colores=oscuros",
	} {
		s.looksWell(path, name)
	}
}

// looksWell shows a document in all frames.
func (s sheet) looksWell(path, name string) {
	s.t.Helper()
	faults := browser.Eval[[]string](s.page, fmt.Sprintf("showAll(%q, %s, %t, %t)", "open/"+path, look, s.screen.Dark, !s.screen.NoImages))
	assert.Empty(s.t, faults, name)
	assert.Empty(s.t, s.page.Problems(), name)
	if os.Getenv(browser.Screenshots) != "" { // They take their time.
		browser.Eval[any](s.page, "stretch()")
		browser.SaveScreenshot(s.t, name+"-"+strings.ReplaceAll(s.name, " ", "-"), s.page.Screenshot())
	}
}

// By themselves, with all that locks them in, an e-mail shows its logo and its
// styles, and a page its own.
func policyLetsIn(t *testing.T, b *browser.Browser, site string) {
	for name, screen := range map[string]browser.Screen{
		"telephone": {Width: 375, Height: 700, Mobile: true}, "desktop": {Dark: true}, "large": {Width: 1800},
	} {
		page := b.Page(t, screen)
		for _, path := range []string{"welcome-1/1/html", "welcome-1/2/html", "purchase-confirmed-1"} {
			page.Load(site + path)
			assert.Empty(t, page.Problems(), path)
			assert.Zero(t, page.Overflow(), path)
			assert.Empty(t, browser.Eval[[]string](page, "("+look+")(window)"), path)
		}
		if os.Getenv(browser.Screenshots) != "" {
			browser.SaveScreenshot(t, "whole-"+name, page.Screenshot())
		}
	}
}

func imagesAreOff(t *testing.T, b *browser.Browser, site string) {
	page := b.Page(t, browser.Screen{})
	page.Load(site + "welcome-1/1/html?imagenes=no")
	assert.Zero(t, browser.Eval[int](page, "document.images[0].naturalWidth"))
	problems := page.Problems()
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0], "img-src 'none'")
}

// Whatever the browser prefers.
func framesHaveTheColours(t *testing.T, b *browser.Browser, site string) {
	for _, dark := range []bool{false, true} {
		page := b.Page(t, browser.Screen{Dark: dark})
		for query, want := range map[string]color.Color{
			"":                 color.NRGBA{R: 0xf1, G: 0xf3, B: 0xf5, A: 0xff},
			"?colores=oscuros": color.NRGBA{R: 0x12, G: 0x14, B: 0x17, A: 0xff},
		} {
			page.Load(site + "welcome-1" + query)
			corner := browser.Eval[[]int](page, `(r => [Math.round(r.left) + 4, Math.round(r.top) + 4])(document.querySelector("iframe").getBoundingClientRect())`)
			// A frame that is locked in is drawn by itself, and perhaps later than
			// a picture is taken.
			got := colourAt(t, page, corner[0], corner[1])
			for end := time.Now().Add(patience); got != want && time.Now().Before(end); {
				got = colourAt(t, page, corner[0], corner[1])
			}
			assert.Equal(t, want, got, "dark browser: %t, %q", dark, query)
		}
	}
}

// patience is how long a test waits for what must come; it is not a measure.
const patience = 30 * time.Second

func colourAt(t *testing.T, page *browser.Page, x, y int) color.Color {
	t.Helper()
	picture, err := png.Decode(bytes.NewReader(page.Screenshot()))
	require.NoError(t, err)
	return color.NRGBAModel.Convert(picture.At(x, y))
}

func keyboardReachesAll(t *testing.T, b *browser.Browser, site string) {
	page := b.Page(t, browser.Screen{})
	page.Load(site + "purchase-confirmed-1")
	unreachable := browser.Eval[[]string](page, `[...document.querySelectorAll("a, summary, .scroll")].filter(e => { e.focus(); return document.activeElement !== e }).map(e => e.outerHTML)`)
	assert.Empty(t, unreachable)
	page.Click(`a[href*="colores=oscuros"]`)
	page.Wait(`iframe.dark`)
	page.Click(`a[rel=next]`)
	page.Wait(`iframe.dark[src^="purchase-confirmed-2/"]`)
}

func faultsAreFound(t *testing.T, b *browser.Browser, _ string) {
	page := b.Page(t, browser.Screen{Width: 375})
	page.LoadHTML("<!DOCTYPE html>")
	const whole = `<body style="background: #fff"><h1>Título</h1><p>uno</p><p>dos</p>`
	for body, want := range map[string][]string{
		whole: {},
		whole + `<p style="color: #777">gris</p>`:                                                              {"contrast 4.48: gris"},
		whole + `<p style="color: rgba(0, 0, 0, .3)">pálido</p>`:                                               {"contrast 2.11: pálido"},
		whole + `<div style="background: #000"><p style="background: rgba(255, 255, 255, .1)">tinta</p></div>`: {"contrast 1.20: tinta"},
		whole + `<div style="display: none; color: #fff">oculto</div>`:                                         {},
		whole + `<div class="card" style="width: 100px; overflow: hidden"><b>palabraquenocabe</b></div>`:       {"cut off: palabraquenocabe"},
		whole + `<div style="width: 500px">ancho</div>`:                                                        {"133 pixels too wide"},
		whole + `<div class="button"><a href="/" style="color: #000"></a></div>`:                               {"a button is not visible"},
		whole + `<img src="data:," alt="Logo" width="60" height="20" style="color: #ccc">`:                     {"contrast 1.61: image: Logo"},
		whole + `<img src="data:,">`:                                                                           {"an image without a text"},
		strings.Replace(whole, "<h1", "<h1 hidden", 1) + "<p>tres</p>":                                         {"h1 is not visible"},
		"<h1>Título</h1>": {"only 1 texts are visible"},
	} {
		got := browser.Eval[[]string](page, fmt.Sprintf("document.write(%q), document.close(), (%s)(window)", body, look))
		assert.Equal(t, want, got, body)
	}
}
