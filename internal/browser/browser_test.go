package browser_test

import (
	"bytes"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/buzon-go/buzon/internal/browser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pixel is a GIF of one pixel.
const pixel = "GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"

// site serves documents by path, and pictures.
func site(t *testing.T, documents map[string]string) (url string, pictures *atomic.Int32) {
	t.Helper()
	pictures = new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		document, ok := documents[r.URL.Path]
		switch {
		case ok:
			_, _ = io.WriteString(w, "<!DOCTYPE html><html lang=es><title>x</title>"+document)
		case strings.HasSuffix(r.URL.Path, ".gif"):
			pictures.Add(1)
			_, _ = io.WriteString(w, pixel)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, pictures
}

func TestPages(t *testing.T) {
	t.Parallel()
	b := browser.Open(t)
	for name, test := range map[string]func(*testing.T, *browser.Browser){
		"a form is filled in and sent":           formIsSent,
		"text that comes late is awaited":        lateTextIsAwaited,
		"a document is loaded without a server":  documentIsLoaded,
		"the screen is as asked for":             screenIsAsAskedFor,
		"the default screen is a bright desktop": defaultScreen,
		"overflow is measured":                   overflowIsMeasured,
		"images are blocked":                     imagesAreBlocked,
		"problems are told once":                 problemsAreToldOnce,
		"a screenshot shows the whole page":      screenshotShowsAll,
		"values come out of JavaScript":          valuesComeOut,
		"pages have cookies of their own":        cookiesAreApart,
		"nothing else is reached":                nothingElseIsReached,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, b)
		})
	}
}

func formIsSent(t *testing.T, b *browser.Browser) {
	url, _ := site(t, map[string]string{
		"/":     `<form action=/sent><input name=q value=old><button>Enviar</button></form>`,
		"/sent": `<h1>Enviado</h1>`,
	})
	p := b.Page(t, browser.Screen{})
	p.Load(url)
	p.Type("input", "año")
	p.Click("button")
	p.Wait("h1")
	assert.Equal(t, "Enviado", p.Text("h1"))
	assert.Equal(t, "?q=a%C3%B1o", browser.Eval[string](p, "location.search"))
}

func lateTextIsAwaited(t *testing.T, b *browser.Browser) {
	p := b.Page(t, browser.Screen{})
	p.LoadHTML(`<!DOCTYPE html><p hidden>a <b hidden>no</b>b</p><script>setTimeout(() => document.querySelector("p").hidden = false, 200)</script>`)
	assert.Equal(t, "a b", p.Text("p"))
}

func documentIsLoaded(t *testing.T, b *browser.Browser) {
	p := b.Page(t, browser.Screen{})
	p.LoadHTML(`<!DOCTYPE html><title>Adiós</title>`)
	assert.Equal(t, "Adiós", browser.Eval[string](p, "document.title"))
	p.LoadHTML(`<!DOCTYPE html><title>Otra</title>`)
	assert.Equal(t, "Otra", browser.Eval[string](p, "document.title"))
	assert.Empty(t, p.Problems())
}

type screen struct {
	Width, Height int
	Dark, Touch   bool
}

const screenOf = `({
	Width: innerWidth, Height: innerHeight,
	Dark: matchMedia("(prefers-color-scheme: dark)").matches, Touch: matchMedia("(pointer: coarse)").matches,
})`

func screenIsAsAskedFor(t *testing.T, b *browser.Browser) {
	p := b.Page(t, browser.Screen{Width: 375, Height: 667, Mobile: true, Dark: true})
	p.LoadHTML(`<!DOCTYPE html><meta name=viewport content="width=device-width">`)
	assert.Equal(t, screen{375, 667, true, true}, browser.Eval[screen](p, screenOf))
}

func defaultScreen(t *testing.T, b *browser.Browser) {
	p := b.Page(t, browser.Screen{})
	p.LoadHTML(`<!DOCTYPE html><p style="height: 3000px">`)
	assert.Equal(t, screen{1280, 800, false, false}, browser.Eval[screen](p, screenOf))
}

func overflowIsMeasured(t *testing.T, b *browser.Browser) {
	const wide = `<div style="width: 500px">x</div>`
	const viewport = `<meta name=viewport content="width=device-width, initial-scale=1"><style>body { margin: 0 }</style>`
	for name, test := range map[string]struct {
		screen   browser.Screen
		document string
		want     int
	}{
		"desktop, narrow":         {browser.Screen{}, viewport + wide, 0},
		"desktop, wide":           {browser.Screen{Width: 400}, viewport + wide, 100},
		"mobile, narrow":          {browser.Screen{Width: 375, Mobile: true}, viewport + "<p>x", 0},
		"mobile, wide":            {browser.Screen{Width: 375, Mobile: true}, viewport + wide, 125},
		"mobile without viewport": {browser.Screen{Width: 490, Mobile: true}, "<p>x", 980 - 490},
	} {
		p := b.Page(t, test.screen)
		p.LoadHTML("<!DOCTYPE html>" + test.document)
		assert.Equal(t, test.want, p.Overflow(), name)
	}
}

func imagesAreBlocked(t *testing.T, b *browser.Browser) {
	url, pictures := site(t, map[string]string{"/": `<img src=/a.gif alt=uno><p style="background: url(/b.gif)">x</p>`})
	p := b.Page(t, browser.Screen{NoImages: true})
	p.Load(url)
	assert.Zero(t, browser.Eval[int](p, "document.images[0].naturalWidth"))
	assert.Empty(t, p.Problems())
	assert.Zero(t, pictures.Load())

	p = b.Page(t, browser.Screen{})
	p.Load(url)
	assert.Equal(t, 1, browser.Eval[int](p, "document.images[0].naturalWidth"))
	assert.EqualValues(t, 2, pictures.Load())
}

func problemsAreToldOnce(t *testing.T, b *browser.Browser) {
	p := b.Page(t, browser.Screen{})
	for document, want := range map[string]string{
		`<script>console.error("no", 7)</script>`:                "no 7",
		`<script>throw new Error("thrown")</script>`:             "Error: thrown",
		`<script>Promise.reject(new Error("rejected"))</script>`: "Error: rejected",
		`<script>console.assert(false, "unheld")</script>`:       "unheld",
		`<img src=/missing.png alt=x>`:                           "404",

		`<meta http-equiv=Content-Security-Policy content="script-src 'none'"><script>1</script>`:        "script-src 'none'",
		`<meta http-equiv=Content-Security-Policy content="style-src 'self'"><p style="color:red">x</p>`: "style-src 'self'",
		`<meta http-equiv=Content-Security-Policy content="img-src 'none'"><img src=/x.png alt=x>`:       "img-src 'none'",
	} {
		p.LoadHTML("<!DOCTYPE html><title>x</title>" + document)
		problems := p.Problems()
		assert.Len(t, problems, 1, document)
		assert.Contains(t, strings.Join(problems, "\n"), want)
		assert.Empty(t, p.Problems())
	}
	p.LoadHTML(`<!DOCTYPE html><img src=/favicon.ico alt=x><script>console.log("a"); console.warn("b"); console.debug("c")</script>`)
	assert.Empty(t, p.Problems())
}

func screenshotShowsAll(t *testing.T, b *browser.Browser) {
	p := b.Page(t, browser.Screen{Width: 300, Height: 200})
	p.LoadHTML(`<!DOCTYPE html><body style="margin: 0; background: #0f0"><div style="height: 1500px"></div>`)
	picture, err := png.Decode(bytes.NewReader(p.Screenshot()))
	require.NoError(t, err)
	assert.Equal(t, 300, picture.Bounds().Dx())
	assert.Equal(t, 1500, picture.Bounds().Dy())
	red, green, blue, _ := picture.At(150, 1499).RGBA()
	assert.Equal(t, [3]uint32{0, 0xffff, 0}, [3]uint32{red, green, blue})
}

func valuesComeOut(t *testing.T, b *browser.Browser) {
	p := b.Page(t, browser.Screen{})
	assert.Equal(t, []string{"a", "ñ"}, browser.Eval[[]string](p, `["a", "ñ"]`))
	assert.Equal(t, 7, browser.Eval[int](p, "new Promise(done => setTimeout(done, 10, 7))"))
}

func cookiesAreApart(t *testing.T, b *browser.Browser) {
	url, _ := site(t, map[string]string{"/": `x`})
	one, other := b.Page(t, browser.Screen{}), b.Page(t, browser.Screen{})
	one.Load(url)
	browser.Eval[string](one, `document.cookie = "a=1"`)
	other.Load(url)
	assert.Empty(t, browser.Eval[string](other, "document.cookie"))
}

func nothingElseIsReached(t *testing.T, b *browser.Browser) {
	p := b.Page(t, browser.Screen{})
	for _, host := range []string{"buzon.example", "192.0.2.1"} {
		p.LoadHTML(`<!DOCTYPE html><title>x</title><img src="http://` + host + `/x.png" alt=x>`)
		assert.Equal(t, []string{"Failed to load resource: net::ERR_NAME_NOT_RESOLVED"}, p.Problems())
	}
}

func TestNothingIsLeft(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Run("test", func(t *testing.T) {
		p := browser.Open(t).Page(t, browser.Screen{NoImages: true})
		p.LoadHTML("<!DOCTYPE html><img src=/x.png alt=x>")
		entries, err := os.ReadDir(temporary)
		require.NoError(t, err)
		assert.NotEmpty(t, entries)
	})
	entries, err := os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, entries)
	assert.Eventually(t, func() bool { return len(processesOf(t, temporary)) == 0 }, time.Minute, 10*time.Millisecond,
		"the crash reporter outlives the browser by a moment, and nothing else does")
}

// processesOf returns the command lines that name a folder. It finds none where
// the system has no /proc.
func processesOf(t *testing.T, folder string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(folder)) { // else it has ended
			found = append(found, string(line))
		}
	}
	return found
}

func TestSaveScreenshot(t *testing.T) {
	t.Setenv(browser.Screenshots, "")
	browser.SaveScreenshot(t, "x", []byte("PNG"))

	folder := filepath.Join(t.TempDir(), "new")
	t.Setenv(browser.Screenshots, folder)
	browser.SaveScreenshot(t, "es/welcome", []byte("PNG"))
	content, err := os.ReadFile(filepath.Join(folder, "es-welcome.png"))
	require.NoError(t, err)
	assert.Equal(t, "PNG", string(content))
}
