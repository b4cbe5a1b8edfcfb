package view_test

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// order is the data of the views in these tests.
type order struct {
	Code string
	URL  string
	More *order
}

// Panics is a method that a template may call.
func (o order) Panics() string { panic("out of order") }

func samples() []order {
	return []order{{Code: "k1", URL: "https://club.example/k1", More: &order{Code: "k2"}}, {}}
}

// set are template files, by name.
type set map[string]string

// baseSet has a layout of its own, and a view in Spanish.
func baseSet() set {
	return set{
		"layout.html": `<!DOCTYPE html><html lang="{{.Tag}}"><head><title>{{template "title" .}}</title>` +
			`<style>.x { color: {{.Brand.Link}} } a:hover { color: {{.Brand.Accent}} }</style></head>` +
			`<body><p>{{template "preheader" .}}</p>{{template "content" .}}<p>{{template "reason" .}}</p></body></html>`,
		"layout.txt":    `{{template "content" .}}` + "\n-- \n" + `{{template "reason" .}}`,
		"es/layout.txt": `{{define "word"}}palabra{{end}}`,
		"es/order.html": `{{define "title"}}Compra {{.Data.Code}}{{end}}{{define "preheader"}}Previa{{end}}` +
			`{{define "content"}}<p class="x" title="{{.Recipient}}">{{.Recipient}}: {{template "word" .}} {{.Data.Code}}{{if .Data.URL}} <a href="{{.Data.URL}}" style="color:{{.Brand.Primary}}">{{.Brand.Name}}</a>{{end}}</p>{{end}}` +
			`{{define "reason"}}Motivo{{end}}`,
		"es/order.txt": `{{define "subject"}}Compra {{.Data.Code}} en {{.Brand.Name}}{{end}}` +
			`{{define "content"}}{{.Recipient}}: {{template "word" .}} {{.Data.Code}} {{.Data.URL}}{{end}}{{define "reason"}}Motivo{{end}}`,
	}
}

// in has the Spanish view in another language too.
func (s set) in(language string) set {
	for _, name := range []string{"layout.txt", "order.html", "order.txt"} {
		s[language+"/"+name] = strings.ReplaceAll(strings.ReplaceAll(s["es/"+name], "Compra", language), "palabra", language)
	}
	return s
}

// with replaces a part of a file.
func (s set) with(name, old, replacement string) set {
	s[name] = strings.Replace(s[name], old, replacement, 1)
	return s
}

func (s set) files() view.Files {
	files := fstest.MapFS{}
	for name, content := range s {
		files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return view.Files{files}
}

func (s set) view(t testing.TB) *view.View[order] {
	t.Helper()
	v, err := view.New(s.files(), "order", samples()...)
	require.NoError(t, err)
	return v
}

func render(t testing.TB, v *view.View[order], brand view.Brand, reader view.Reader, data order) view.Content {
	t.Helper()
	content, err := v.Render(t.Context(), brand, reader, data)
	require.NoError(t, err)
	return content
}

func TestRender(t *testing.T) {
	t.Parallel()
	v := baseSet().view(t)
	assert.Equal(t, "order", v.Name())
	assert.Equal(t, samples(), v.Samples())
	assert.Equal(t, []string{"es"}, v.Languages())
	content := render(t, v, view.SampleBrand(), view.Reader{Name: "Ana"}, samples()[0])
	assert.Equal(t, view.Content{
		Language: "es",
		Subject:  "Compra k1 en Club Atlético Sur",
		Text:     "Ana: palabra k1 https://club.example/k1\n-- \nMotivo",
		HTML: `<!DOCTYPE html><html lang="es"><head><title>Compra k1</title><style type="text/css">a:hover {` +
			"\ncolor: #b45309 !important\n}" + `</style></head><body><p>Previa</p>` +
			`<p class="x" title="Ana" style="color:#b45309">Ana: palabra k1 <a href="https://club.example/k1" style="color:#0f766e">Club Atlético Sur</a></p>` +
			`<p>Motivo</p></body></html>`,
	}, content)
}

// The library's own layout serves a view that has none.
func TestTheLibrarysLayout(t *testing.T) {
	t.Parallel()
	files := baseSet().with("es/order.html", `{{template "word" .}}`, "").with("es/order.txt", `{{template "word" .}}`, "")
	for name := range files {
		if strings.Contains(name, "layout") {
			delete(files, name)
		}
	}
	content := render(t, files.view(t), view.SampleBrand(), view.Reader{}, samples()[0])
	assert.Contains(t, content.HTML, "Compra k1")
	assert.Contains(t, content.Text, "Motivo")
}

// A fault of a view shows when it is made, and tells where it is.
func TestFaultsShowWhenAViewIsMade(t *testing.T) {
	t.Parallel()
	html := func(old, replacement string) set { return baseSet().with("es/order.html", old, replacement) }
	text := func(old, replacement string) set { return baseSet().with("es/order.txt", old, replacement) }
	without := func(name string) set { s := baseSet(); delete(s, name); return s }
	for name, c := range map[string]struct {
		files set
		want  []string
	}{
		"field in HTML":     {html("{{.Data.Code}}", "{{.Data.Nothing}}"), []string{"sample 1", "order.html", "<.Data.Nothing>"}},
		"field in text":     {text("{{.Data.Code}}", "{{.Data.Nothing}}"), []string{"sample 1", "es/order.txt:1", "<.Data.Nothing>"}},
		"second sample":     {html("{{if .Data.URL}}", "{{if not .Data.URL}}{{.Data.Nothing}}{{end}}{{if .Data.URL}}"), []string{"sample 2", "<.Data.Nothing>"}},
		"nil in the second": {text("{{.Data.Code}}", "{{.Data.More.Code}}"), []string{"sample 2", "More.Code"}},
		"bare brand":        {text("Compra", `{{if not .Brand.LogoURL}}{{.Nothing}}{{end}}`), []string{"sample 1", "<.Nothing>"}},
		"without a name":    {text("Compra", `{{if not .Recipient}}{{.Nothing}}{{end}}`), []string{"sample 1", "<.Nothing>"}},
		"no title":          {html(`{{define "title"}}Compra {{.Data.Code}}{{end}}`, ""), []string{"layout.html:1:", `{{template "title" .}}: there is no template of that name`}},
		"no preheader":      {html(`{{define "preheader"}}`, `{{define "preheder"}}`), []string{`{{template "preheader" .}}: there is no`}},
		"no content":        {html(`{{define "content"}}`, `{{define "contents"}}`), []string{`{{template "content" .}}: there is no`}},
		"no reason":         {html(`{{define "reason"}}`, `{{define "raison"}}`), []string{`{{template "reason" .}}: there is no`}},
		"no subject":        {text(`{{define "subject"}}`, `{{define "sujet"}}`), []string{`no template "subject"`}},
		"no text content":   {text(`{{define "content"}}`, `{{define "contents"}}`), []string{"layout.txt", `template "content" not defined`}},
		"no text reason":    {text(`{{define "reason"}}`, `{{define "raison"}}`), []string{"layout.txt", `template "reason" not defined`}},
		"empty subject":     {text("Compra {{.Data.Code}} en {{.Brand.Name}}", " {{/* x */}}\n"), []string{"sample 1: the subject is empty"}},
		"empty text":        {baseSet().with("layout.txt", "\n-- \n", "").with("layout.txt", `{{template "content" .}}{{template "reason" .}}`, " "), []string{"the text is empty"}},
		"HTML syntax":       {html("{{.Recipient}}", "{{.Recipient"), []string{"es/order.html:1"}},
		"text syntax":       {text("{{.Recipient}}", "\n{{if}}"), []string{"es/order.txt:2"}},
		"unknown function":  {text("{{.Recipient}}", `{{env "HOME"}}`), []string{"es/order.txt:1", `"env" not defined`}},
		"HTML only":         {without("es/order.txt"), []string{"open es/order.txt: file does not exist"}},
		"text only":         {without("es/order.html"), []string{"open es/order.html: file does not exist"}},
		"value in a style":  {html(`style="color:{{.Brand.Primary}}"`, `style="color:{{.Data.URL}}"`), []string{"where html/template allows none"}},
		"branch":            {html("</p>{{end}}", "{{if .Recipient}}</p>{{end}}{{end}}"), []string{"</p> closes nothing", "{{if .Recipient}}"}},
		"panic":             {text("{{.Data.Code}}", "{{.Data.Panics}}"), []string{"sample 1", "out of order"}},
		"output":            {text("{{.Data.Code}}", `{{range 100000}}0123456789abc{{end}}`), []string{"it writes more than 1048576 bytes"}},
		"not UTF-8":         {text("Compra", "Atenci\xf3n"), []string{"es/order.txt is not UTF-8"}},
	} {
		v, err := view.New(c.files.files(), "order", samples()...)
		assert.Nil(t, v, name)
		if assert.ErrorContains(t, err, "view order in es: ", name) {
			for _, want := range c.want {
				assert.ErrorContains(t, err, want, name)
			}
		}
	}
}

func TestWhatIsNoViewIsNotMade(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"view order: there is no sample to try it with":                                                              errOf(view.New[order](baseSet().files(), "order")),
		"view nothing: there is neither es/nothing.html nor a file of it":                                            errOf(view.New(baseSet().files(), "nothing", order{})),
		"view order: the folder fr: view: locale \"fr\": there are no date formats for it; there are for es, en, pt": errOf(view.New(baseSet().in("fr").files(), "order", samples()...)),
		"view order: the folder ES: the name should be es":                                                           errOf(view.New(baseSet().in("ES").files(), "order", samples()...)),
		"view order: the folder pt_BR: the name should be pt-BR":                                                     errOf(view.New(baseSet().in("pt_BR").files(), "order", samples()...)),
	} {
		assert.ErrorContains(t, err, want)
	}
}

func errOf[D any](_ *view.View[D], err error) error { return err }

// Every fault in every language is told at once.
func TestFaultsAreJoined(t *testing.T) {
	t.Parallel()
	files := baseSet().in("en").in("pt").in("fr")
	files.with("es/order.txt", "{{.Data.Code}}", "{{.Nothing}}").with("en/order.html", "</p>", "").with("pt/order.txt", "{{.Recipient}}", "{{")
	_, err := view.New(files.files(), "order", samples()...)
	for _, want := range []string{"view order in es: sample 1", "view order in en: ", "view order in pt: ", "the folder fr"} {
		assert.ErrorContains(t, err, want)
	}
}

func TestAMissingKeyOfAMapIsAFault(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"es/order.html", "es/order.txt"} {
		files := baseSet().with(name, "{{.Data.Code}}", "{{.Data.Kode}}").files()
		_, err := view.New(files, "order", map[string]string{"Code": "k", "URL": ""})
		assert.ErrorContains(t, err, `map has no entry for key "Kode"`)
	}
}

func TestTheReadersLanguageIsChosen(t *testing.T) {
	t.Parallel()
	v := baseSet().in("en").in("pt").view(t)
	for _, c := range []struct {
		preferred     []string
		language, tag string
	}{
		{nil, "es", "es"},
		{[]string{"fr"}, "es", "es"},
		{[]string{"", "%", "fr"}, "es", "es"},
		{[]string{"es-UY"}, "es", "es-UY"},
		{[]string{"fr", "pt_BR", "en"}, "pt", "pt-BR"},
		{[]string{"en-GB", "es"}, "en", "en-GB"},
	} {
		content := render(t, v, view.SampleBrand(), view.Reader{Languages: c.preferred}, samples()[0])
		assert.Equal(t, c.language, content.Language, c.preferred)
		assert.Contains(t, content.HTML, `<html lang="`+c.tag+`"`, c.preferred)
		if c.language != "es" {
			assert.True(t, strings.HasPrefix(content.Subject, c.language+" "), content.Subject)
			assert.Contains(t, content.Text, c.language+" k1")
		}
	}
}

func TestTheSubjectIsOneShortLine(t *testing.T) {
	t.Parallel()
	v := baseSet().with("es/order.txt", "Compra", "\n  Compra\r\n ").view(t)
	content := render(t, v, view.SampleBrand(), view.Reader{}, order{Code: "a\r\nBcc: x@y.example\u202E & <b>"})
	assert.Equal(t, "Compra a Bcc: x@y.example & <b> en Club Atlético Sur", content.Subject)
	content = render(t, v, view.SampleBrand(), view.Reader{}, order{Code: strings.Repeat("ñ", 300)})
	assert.Equal(t, "Compra "+strings.Repeat("ñ", 142)+"…", content.Subject)
}

// shape is an e-mail without its values: its elements in their order, with the
// names of their attributes. It fails where an element is not closed.
func shape(t *testing.T, html string) []string {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(html))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var all []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			tag := start.Name.Local
			for _, a := range start.Attr {
				tag += " " + a.Name.Local
			}
			all = append(all, tag)
		}
	}
}

var entity = regexp.MustCompile(`&(#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);`)

// What comes from the host changes no markup, wherever it stands, and subject
// and text show it as it is.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	positions := baseSet().with("es/order.html", "<p ", `<p title='{{.Data.Code}}' style="font-family:'{{.Data.Code}}'" data-x={{.Data.Code}}>{{.Data.Code}}</p><p `).
		with("es/order.html", "{{.Recipient}}: ", `{{.Recipient}}: <a href="https://x.example/{{.Data.Code}}?q={{.Data.Code}}">x</a><a href="{{.Data.Code}}">x</a><textarea>{{.Data.Code}}</textarea>`).
		with("layout.html", "</style>", `@media print { .x { font-family: "{{.Data.Code}}"; } }</style>`)
	v := positions.view(t)
	plain := render(t, v, view.SampleBrand(), view.Reader{Name: "Ana"}, order{Code: "k", URL: "https://x.example/"})
	for _, hostile := range []string{
		`"><script>alert('1')</script><img src=x onerror=y>`, `' onmouseover='x`, ` onmouseover=x`, `</title><b>`, `</textarea><b>`,
		`</style><b>`, `}} p { color: red }`, `--><b>`, `<!--`, `{{.Brand.Name}}`, `bzq0q`, `<!--bzq0q-->`, `javascript:alert(1)`, ` JaVaScRiPt:alert(1)`,
		`data:text/html,<b>`, `expression(alert(1))`, `url(javascript:x)`, "a\x00b", "</td></tr></table>", "`<b>`", "&lt;b&gt;",
	} {
		brand := view.SampleBrand()
		brand.Name, brand.Footer = hostile, hostile+"\n"+hostile
		content := render(t, v, brand, view.Reader{Name: hostile}, order{Code: hostile, URL: hostile})
		assert.Equal(t, shape(t, plain.HTML), shape(t, content.HTML), hostile)
		assert.NotRegexp(t, `(?i)href="\s*(javascript|data):|style="[^"]*(javascript|expression\()`, content.HTML, hostile)
		line := view.OneLine(hostile, view.MaxName)
		assert.Contains(t, content.Text, line+": palabra "+hostile, hostile)
		assert.Equal(t, "Compra "+line+" en "+line, content.Subject)
		assert.NotRegexp(t, entity, strings.ReplaceAll(content.Subject+content.Text, "&lt;b&gt;", ""), hostile)
	}
}

func TestNamesAreCleaned(t *testing.T) {
	t.Parallel()
	v := baseSet().view(t)
	for name, want := range map[string]string{
		"Ana\r\nX: y": "Ana X: y", "\u202EanA\x00": "anA", strings.Repeat("á", 300): strings.Repeat("á", 79) + "…", " \t\u200B": "",
	} {
		content := render(t, v, view.SampleBrand(), view.Reader{Name: name}, order{})
		assert.True(t, strings.HasPrefix(content.Text, want+": palabra"), "%q: %q", name, content.Text)
		assert.Contains(t, content.HTML, ">"+want+": palabra")
	}
}

// What no sample did can still go wrong for an e-mail, which then is none.
func TestRenderFails(t *testing.T) {
	t.Parallel()
	v := baseSet().with("es/order.txt", "{{.Data.Code}} {{.Data.URL}}",
		`{{if eq .Data.Code "panic"}}{{.Data.Panics}}{{end}}{{if eq .Data.Code "nil"}}{{.Data.More.Code}}{{end}}{{.Data.URL}}`).view(t)
	for code, want := range map[string]string{"panic": "out of order", "nil": "nil pointer"} {
		content, err := v.Render(t.Context(), view.SampleBrand(), view.Reader{}, order{Code: code})
		assert.ErrorContains(t, err, "view order in es: ")
		assert.ErrorContains(t, err, want)
		assert.Zero(t, content)
	}
	_, err := v.Render(t.Context(), view.SampleBrand(), view.Reader{}, order{URL: strings.Repeat("x", 1<<20)})
	assert.ErrorContains(t, err, "it writes more than 1048576 bytes")
}

// ending is data whose reading ends a context.
type ending struct{ end context.CancelFunc }

func (e ending) Code() string { e.end(); return "k" }
func (ending) URL() string    { return "" }

func TestNothingIsWrittenForNobody(t *testing.T) {
	t.Parallel()
	v, err := view.New(baseSet().files(), "order", ending{func() {}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_, err = v.Render(ctx, view.SampleBrand(), view.Reader{}, ending{cancel})
	assert.ErrorIs(t, err, context.Canceled)
}

// Every attempt must compose the same bytes, in whatever process: views made
// anew stand for those of another one.
func TestViewsAreTheSameEachTime(t *testing.T) {
	t.Parallel()
	contents := func() (all []view.Content) {
		v := baseSet().in("en").in("pt-BR").view(t)
		assert.Equal(t, []string{"es", "en", "pt-BR"}, v.Languages())
		for _, language := range v.Languages() {
			all = append(all, render(t, v, view.SampleBrand(), view.Reader{Name: "Ana", Languages: []string{language}}, samples()[0]))
		}
		return all
	}
	first := contents()
	for range 50 {
		require.Equal(t, first, contents())
	}
}

func TestViewsAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	v := baseSet().in("en").view(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 20 {
				code := fmt.Sprint("k", i, "-", j)
				content, err := v.Render(t.Context(), view.SampleBrand(), view.Reader{Name: code, Languages: []string{[]string{"es-UY", "en"}[j%2]}}, order{Code: code})
				assert.NoError(t, err)
				assert.Contains(t, content.Subject, code)
				assert.Equal(t, 4, strings.Count(content.HTML, code))
			}
		})
	}
	all.Wait()
}

// Methods that write dates and amounts are the page's.
func TestTemplatesWriteDatesInTheReadersZone(t *testing.T) {
	t.Parallel()
	files := baseSet().with("es/order.txt", "{{.Data.Code}} {{.Data.URL}}", `{{range .Data.List}}{{$.Date .}};{{end}}{{.Number 1234567}}`).
		with("es/order.txt", "{{.Data.Code}}", "x").with("es/order.html", "{{.Data.Code}}", "x").with("es/order.html", "{{.Data.Code}}", "x").
		with("es/order.html", "{{if .Data.URL}}", "{{if false}}").with("es/order.html", "{{.Data.URL}}", "x")
	type dates struct{ List []time.Time }
	v, err := view.New(files.files(), "order", dates{})
	require.NoError(t, err)
	content, err := v.Render(t.Context(), view.SampleBrand(), view.Reader{}, dates{[]time.Time{time.Date(2026, time.March, 19, 18, 4, 0, 0, time.UTC)}})
	require.NoError(t, err)
	assert.Contains(t, content.Text, "jueves, 19 de marzo de 2026;1.234.567")
}
