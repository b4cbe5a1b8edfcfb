package preview_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/examples/internal/preview"
	"github.com/buzon-go/buzon/internal/mailcheck"
	"github.com/buzon-go/buzon/notify"
)

const base = "http://127.0.0.1:8026/"

// emails are the addresses of all e-mails.
var emails = []string{
	"welcome-1", "password-reset-1", "password-reset-2", "purchase-confirmed-1", "purchase-confirmed-2", "purchase-confirmed-3",
	"event-date-rescheduled-1", "event-date-rescheduled-2", "event-date-suspended-1", "event-date-suspended-2", "test-1", "integration-validation-1",
}

var languages = []string{"es", "en", "pt"}

func newHandler(t testing.TB, brands ...preview.Brand) http.Handler {
	t.Helper()
	views, err := notify.NewViews(nil)
	require.NoError(t, err)
	handler, err := preview.Handler(views, brands...)
	require.NoError(t, err)
	return handler
}

// get returns an answer and its body.
func get(handler http.Handler, path string) (*httptest.ResponseRecorder, string) {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	return recorder, recorder.Body.String()
}

func isCalm(t *testing.T, response *httptest.ResponseRecorder, path string) {
	t.Helper()
	assert.Equal(t, http.StatusOK, response.Code, path)
	assert.Equal(t, "nosniff", response.Header().Get("X-Content-Type-Options"), path)
	assert.Equal(t, "no-store", response.Header().Get("Cache-Control"), path)
	assert.Equal(t, "no-referrer", response.Header().Get("Referrer-Policy"), path)
}

func TestEveryEmailInEveryLanguageAndBrand(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, preview.SampleBrands(base)...)
	for _, language := range languages {
		_, list := get(handler, "/?idioma="+language)
		for _, email := range emails {
			assert.Contains(t, list, `<a href="`+email+"?idioma="+language+`">`)
			response, page := get(handler, "/"+email+"?idioma="+language)
			isCalm(t, response, email)
			assert.Contains(t, response.Header().Get("Content-Security-Policy"), "default-src 'none'; ")
			assert.Equal(t, 2, strings.Count(page, " sandbox title="), email)
			for _, brand := range []string{"1", "2"} {
				folder := "/" + email + "/" + brand + "/"
				assert.Contains(t, page, `src="`+strings.TrimPrefix(folder, "/")+"html?idioma="+language+`"`)
				response, document := get(handler, folder+"html?idioma="+language)
				isCalm(t, response, folder)
				assert.Regexp(t, `^sandbox; default-src 'none'; .*frame-ancestors 'self'; style-src 'unsafe-inline'; img-src data:`, response.Header().Get("Content-Security-Policy"))
				assert.Contains(t, document, `<html lang="`+language, folder)
				for _, part := range []string{"texto", "fuente"} {
					response, body := get(handler, folder+part+"?idioma="+language)
					isCalm(t, response, folder+part)
					assert.Equal(t, "text/plain; charset=utf-8", response.Header().Get("Content-Type"))
					assert.Contains(t, response.Header().Get("Content-Security-Policy"), "sandbox; default-src 'none'; ")
					assert.NotEmpty(t, body)
				}
			}
		}
	}
}

func TestWhatAnEmailPageTells(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, preview.SampleBrands(base)...)
	_, page := get(handler, "/purchase-confirmed-1")
	text := textOf(page)
	for _, want := range []string{
		"Compra confirmada, ejemplo 1 de 3", "De Club Atlético Sur <hola@club.example>", "Responder a respuestas@club.example", "Responder a el remitente",
		"Anterior: Restablecer la contraseña, ejemplo 2 de 2", "Siguiente: Compra confirmada, ejemplo 2 de 3", "Con todo: logo", "Con poco: nombre largo",
		"MIME-Version: 1.0", "bytes más, en la fuente aparte", "Abrir Entradas de la compra",
	} {
		assert.Contains(t, text, want)
	}
	assert.Equal(t, 2, strings.Count(page, "\r\nContent-Disposition: attachment;"))
	assert.NotContains(t, page, "JVBERi", "the file itself is in no page")
	response, file := get(handler, "/purchase-confirmed-1/2/adjuntos/1")
	isCalm(t, response, "the tickets")
	assert.Equal(t, "application/pdf", response.Header().Get("Content-Type"))
	assert.Contains(t, response.Header().Get("Content-Disposition"), "inline; filename")
	assert.True(t, strings.HasPrefix(file, "%PDF-"))

	_, source := get(handler, "/purchase-confirmed-1/1/fuente")
	assert.Contains(t, source, "Content-Disposition: attachment;")
	_, first := get(handler, "/welcome-1")
	assert.NotContains(t, first, "Anterior:")
	_, last := get(handler, "/integration-validation-1")
	assert.NotContains(t, last, "Siguiente:")
}

// The choices go along from page to page, and reach the frames.
func TestChoices(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, preview.SampleBrands(base)...)
	_, page := get(handler, "/welcome-1?idioma=pt&ancho=800&colores=oscuros&imagenes=no")
	const all = "?ancho=800&amp;colores=oscuros&amp;idioma=pt&amp;imagenes=no"
	assert.Equal(t, 2, strings.Count(page, `<iframe class="w800 dark" src="welcome-1/`))
	for _, want := range []string{
		`src="welcome-1/2/html` + all + `"`, `href="./` + all + `"`, `href="password-reset-1` + all + `"`,
		`<a href="` + all + `" aria-current="true">Oscuros</a>`, `<a href="?ancho=800&amp;idioma=pt&amp;imagenes=no">Claros</a>`,
		`<a href="?colores=oscuros&amp;idioma=pt&amp;imagenes=no">Teléfono (375)</a>`, `<a href="?ancho=800&amp;colores=oscuros&amp;idioma=pt">Sí</a>`,
	} {
		assert.Contains(t, page, want)
	}
	_, list := get(handler, "/?ancho=800&colores=oscuros&idioma=pt&imagenes=no")
	assert.Contains(t, list, `href="test-1`+all+`"`)

	response, _ := get(handler, "/welcome-1/1/html?imagenes=no")
	assert.True(t, strings.HasSuffix(response.Header().Get("Content-Security-Policy"), "; img-src 'none'"))
	response, _ = get(handler, "/welcome-1/1/html")
	assert.True(t, strings.HasSuffix(response.Header().Get("Content-Security-Policy"), "; img-src data: http://127.0.0.1:8026"))
}

// Readers of a tenant in Montevideo see its dates; those of another language,
// that language's.
func TestLanguageOfTheTenant(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, preview.SampleBrands(base)...)
	for language, want := range map[string]string{"es": "es-UY", "en": "en"} {
		_, document := get(handler, "/test-1/1/html?idioma="+language)
		assert.Contains(t, document, `<html lang="`+want+`"`)
	}
}

func TestWhatDoesNotExist(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, preview.SampleBrands(base)...)
	for path, home := range map[string]string{
		"/nothing": "./", "/welcome-2": "./", "/welcome": "./", "/welcome-1?idioma=fr": "./", "/welcome-1?ancho=500": "./", "/welcome-1?colores=x": "./", "/?imagenes=si": "./",
		"/welcome-1/": "../", "/welcome-1/0/html": "../../", "/welcome-1/3/html": "../../", "/welcome-1/x/fuente": "../../", "/nothing/1/texto": "../../",
		"/welcome-1/1/adjuntos/1": "../../../", "/purchase-confirmed-1/1/adjuntos/0": "../../../", "/welcome-1/1/nada": "../../",
		"/%3Cscript%3E": "./", "/a%2Fb": "./",
	} {
		response, page := get(handler, path)
		assert.Equal(t, http.StatusNotFound, response.Code, path)
		assert.Contains(t, page, "<h1>Esa página no existe</h1>", path)
		assert.Contains(t, page, `<a href="`+home+`">Todos los mensajes</a>`, path)
		assert.NotContains(t, page, "<script", path)
		assert.Contains(t, response.Header().Get("Content-Security-Policy"), "default-src 'none'; ", path)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/welcome-1", nil))
	assert.Equal(t, http.StatusNotFound, recorder.Code)
}

// What a host gives is text, wherever it stands, and names no sites in a policy.
func TestHostileBrandIsOnlyText(t *testing.T) {
	t.Parallel()
	const script = `<script>alert(1)</script>&"'`
	handler := newHandler(t, preview.Brand{Name: script, Tenant: notify.Tenant{Brand: view.Brand{
		Name: script, Footer: script, LogoURL: "https://a;script-src,*.example/x.png?;script-src",
		From: netmail.Address{Name: script, Address: "hola@club.example"},
	}}})
	for _, path := range []string{"/", "/welcome-1", "/welcome-1/1/html"} {
		response, page := get(handler, path)
		assert.Equal(t, http.StatusOK, response.Code, path)
		assert.NotContains(t, page, "<script", path)
		assert.Contains(t, page, "&lt;script&gt;", path)
		assert.NotContains(t, response.Header().Get("Content-Security-Policy"), "script-src", path)
	}
	response, _ := get(handler, "/welcome-1/1/html")
	assert.True(t, strings.HasSuffix(response.Header().Get("Content-Security-Policy"), "; img-src data:"))
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	views, err := notify.NewViews(nil)
	require.NoError(t, err)
	good := preview.SampleBrands(base)[1]
	with := func(change func(*preview.Brand)) preview.Brand {
		brand := good
		change(&brand)
		return brand
	}
	for want, brands := range map[string][]preview.Brand{
		"preview: there is no brand":                nil,
		"preview: brand 2: Name is empty":           {good, with(func(b *preview.Brand) { b.Name = " " })},
		"brand 1: Brand: LogoURL":                   {with(func(b *preview.Brand) { b.Tenant.Brand.LogoURL = "javascript:alert(1)" })},
		"brand 1: Brand: PrimaryColor":              {with(func(b *preview.Brand) { b.Tenant.Brand.PrimaryColor = "red;}" })},
		"brand 1: WebsiteType.Brand: Name is empty": {with(func(b *preview.Brand) { b.Tenant.WebsiteType = &notify.WebsiteType{} })},
		"brand 1: Brand: LogoURL \"/logo.png\"":     preview.SampleBrands(""),
	} {
		_, err := preview.Handler(views, brands...)
		assert.ErrorContains(t, err, want)
		_, err = preview.FilesHandler(notify.ViewFiles(), brands...)
		assert.ErrorContains(t, err, want)
	}
	_, err = preview.Handler(nil)
	assert.EqualError(t, err, "preview: views is nil\nthere is no brand", "every fault")
	_, err = preview.FilesHandler(nil, good)
	assert.EqualError(t, err, "preview: files is nil")
}

// The logo of account e-mails may be another one.
func TestLogosOfBothIdentities(t *testing.T) {
	t.Parallel()
	brand := preview.SampleBrands(base)[0]
	own := view.SampleBrand()
	own.LogoURL = "https://cuentas.example/logo.png"
	brand.Tenant.WebsiteType = &notify.WebsiteType{Brand: own}
	response, document := get(newHandler(t, brand), "/welcome-1/1/html")
	assert.Contains(t, document, `src="https://cuentas.example/logo.png"`)
	assert.Contains(t, response.Header().Get("Content-Security-Policy"), "img-src data: http://127.0.0.1:8026 https://cuentas.example")
}

// Wherever the pages are mounted, all that they link to is there.
func TestLinksHoldUnderAPrefix(t *testing.T) {
	t.Parallel()
	const prefix = "/admin/vista-previa"
	mux := http.NewServeMux()
	mux.Handle(prefix+"/", http.StripPrefix(prefix, newHandler(t, preview.SampleBrands(base)...)))
	server := httptest.NewServer(mux)
	defer server.Close()
	for _, path := range []string{"/", "/purchase-confirmed-1?colores=oscuros", "/nothing/1/html"} {
		start := server.URL + prefix + path
		_, body := load(t, start)
		from, err := url.Parse(start)
		require.NoError(t, err)
		for _, link := range links(body) {
			to, err := from.Parse(link)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(to.String(), server.URL+prefix+"/"), "%s: %s", path, link)
			status, _ := load(t, to.String())
			assert.Equal(t, http.StatusOK, status, "%s: %s", path, link)
		}
	}
}

func load(t *testing.T, address string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}

// links returns the addresses that a page names, but for those within it.
func links(page string) (all []string) {
	for tokens := html.NewTokenizer(strings.NewReader(page)); tokens.Next() != html.ErrorToken; {
		for _, a := range tokens.Token().Attr {
			known := a.Key == "href" || a.Key == "src"
			if known && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "data:") && !slices.Contains(all, a.Val) {
				all = append(all, a.Val)
			}
		}
	}
	return all
}

// textOf returns a page without markup, its white space made even.
func textOf(page string) string {
	var text strings.Builder
	for tokens := html.NewTokenizer(strings.NewReader(page)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(text.String()), " ")
		case html.TextToken:
			text.WriteString(" " + tokens.Token().Data)
		}
	}
}

func TestPagesAreValidHTML(t *testing.T) {
	t.Parallel()
	handler := newHandler(t, preview.SampleBrands(base)...)
	pages := map[string]string{}
	for _, path := range []string{"/", "/welcome-1", "/purchase-confirmed-1", "/integration-validation-1", "/nothing"} {
		_, pages[path] = get(handler, path)
	}
	mailcheck.HTML(t, pages, map[string]string{
		"no-trailing-whitespace": "the line before a signature in plain text",
	})
}

func TestTwoBrandsOrMore(t *testing.T) {
	t.Parallel()
	one := preview.SampleBrands(base)[:1]
	for n := 1; n <= 3; n++ {
		handler := newHandler(t, slices.Repeat(one, n)...)
		_, page := get(handler, "/test-1")
		assert.Equal(t, n, strings.Count(page, "<iframe"), fmt.Sprint(n))
	}
}
