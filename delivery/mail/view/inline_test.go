package view

import (
	"fmt"
	"html/template"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// templateFiles returns files of the given contents, by name.
func templateFiles(contents map[string]string) fstest.MapFS {
	files := fstest.MapFS{}
	for name, content := range contents {
		files[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return files
}

func documentOf(css, body string) string {
	return "<!DOCTYPE html>\n<html>\n<head>\n<title>x</title>\n<style>" + css + "</style>\n</head>\n<body>" + body + "</body>\n</html>\n"
}

// inlineOne returns what a document that is a template becomes.
func inlineOne(document string) (string, error) {
	return inlined(Files{templateFiles(map[string]string{"layout.html": document})}, "layout.html")
}

// bodyOf returns what becomes of the body of a document with a style sheet.
func bodyOf(t *testing.T, css, body string) string {
	t.Helper()
	source, err := inlineOne(documentOf(css, body))
	require.NoError(t, err, "%s / %s", css, body)
	_, inner, _ := strings.Cut(source, "<body>")
	inner, _, found := strings.Cut(inner, "</body>")
	require.True(t, found, source)
	return strings.TrimSpace(inner) // The parser moves the space after </body>.
}

func TestRulesGoToTheElementsTheySelect(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ css, body, want string }{
		"element":       {"p { color: red; }", `<p>a</p><b>b</b>`, `<p style="color:red">a</p><b>b</b>`},
		"class":         {".x { color: red }", `<p class="y x">a</p>`, `<p class="y x" style="color:red">a</p>`},
		"element.class": {"p.x { color: red }", `<p class="x">a</p><b class="x">b</b>`, `<p class="x" style="color:red">a</p><b class="x">b</b>`},
		"descendant":    {".x b { color: red }", `<p class="x"><i><b>a</b></i></p><b>b</b>`, `<p class="x"><i><b style="color:red">a</b></i></p><b>b</b>`},
		"list":          {"b, .x i ,\nu{color:red}", `<b>a</b><i>b</i><u>c</u>`, `<b style="color:red">a</b><i>b</i><u style="color:red">c</u>`},
		"later wins":    {"b { color: red } b { color: blue }", `<b>a</b>`, `<b style="color:blue">a</b>`},
		"class wins":    {".x { color: red } b { color: blue }", `<b class="x">a</b>`, `<b class="x" style="color:red">a</b>`},
		"two classes":   {".x.y { color: red } .x { color: blue }", `<b class="x y">a</b>`, `<b class="x y" style="color:red">a</b>`},
		"id wins":       {"#i { color: red } .x { color: blue }", `<b id="i" class="x">a</b>`, `<b class="x" id="i" style="color:red">a</b>`},
		"one of many":   {".x { margin: 0 0 16px } .y { margin-bottom: 0 }", `<b class="x y">a</b>`, `<b class="x y" style="margin:0 0 16px;margin-bottom:0">a</b>`},
		"style wins":    {".x { color: red; margin: 0 }", `<b class="x" style="color:blue">a</b>`, `<b class="x" style="margin:0;color:blue">a</b>`},
		"in a branch":   {"b { color: red }", `{{if .A}}<b>a</b>{{else}}<b>b</b>{{end}}`, `{{if .A}}<b style="color:red">a</b>{{else}}<b style="color:red">b</b>{{end}}`},
		"an action":     {"b { color: {{.Link}} }", `<b>a</b><b>b</b>`, `<b style="color:{{$.Link}}">a</b><b style="color:{{$.Link}}">b</b>`},
		"in a range":    {"b { color: {{.Link}}; margin: {{$.S}} }", `{{range .List}}<b>{{.}}</b>{{end}}`, `{{range .List}}<b style="color:{{$.Link}};margin:{{$.S}}">{{.}}</b>{{end}}`},
		"among words":   {"b { border: 1px solid {{.Link}}; margin: 0 }", `<b>a</b>`, `<b style="border:1px solid {{$.Link}};margin:0">a</b>`},
		"no element":    {"b { color: {{.Link}} }", `<p>a</p>`, `<p>a</p>`},
		"font":          {`b { font-family: 'Segoe UI',"Open Sans",sans-serif }`, `<b>a</b>`, `<b style="font-family:&#39;Segoe UI&#39;,&#34;Open Sans&#34;,sans-serif">a</b>`},
		"comment":       {"/* b { color: blue } */ b { color: red }", `<b>a</b>`, `<b style="color:red">a</b>`},
	} {
		assert.Equal(t, c.want, bodyOf(t, c.css, c.body), name)
	}
}

// What has no place in a style attribute stays, and wins over what has.
func TestWhatCannotBeInlineStays(t *testing.T) {
	t.Parallel()
	source, err := inlineOne(documentOf(`a { color: {{.Link}} } a:hover { color: {{.Accent}} } :root { color-scheme: light dark }
@media (max-width: 480px) { .x, a { padding: 0; color: {{.DarkLink}}; } td { margin: 0 } }`, `<a class="x">a</a>`))
	require.NoError(t, err)
	assert.Contains(t, source, `<a class="x" style="color:{{$.Link}}">a</a>`)
	head, _, _ := strings.Cut(source, "</head>")
	assert.Equal(t, 1, strings.Count(head, "<style"))
	kept := strings.Join(strings.Fields(head[strings.Index(head, "<style"):]), " ")
	assert.Contains(t, kept, "a:hover { color: {{$.Accent}} !important }")
	assert.Contains(t, kept, ":root { color-scheme: light dark !important }")
	assert.Contains(t, kept, "@media (max-width: 480px){ .x, a { padding: 0 !important; color: {{$.DarkLink}} !important } td { margin: 0 !important } }")
	assert.NotContains(t, kept, ".Link}}")
}

// inlineData is what templates of these tests see.
type inlineData struct {
	A, B bool
	S    string
	List []string
	Rows []struct{ Cells []string }
}

// Inlining without rules changes nothing of what a template makes: what
// html/template makes of the template as it was written is the judge.
func TestInliningKeepsWhatTemplatesMake(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"text":               `<p>Hola, {{.S}}: {{.S}}.</p>`,
		"attribute":          `<a href="https://x.example/?q={{.S}}&amp;r=1" title='{{.S}} "x"' class="a b">x</a>`,
		"attribute with >":   `<a title="a>b" href="{{.S}}">x</a>`,
		"unquoted":           `<a title={{len .List}} id=b>x</a>`,
		"branch in a value":  `<td-x title="{{if .A}}a{{else}}b{{end}} {{.S}}">x</td-x>`,
		"style":              `<p style="color:{{if .A}}#ffffff{{else}}#000000{{end}};margin:0">x</p>`,
		"branch":             `<p>{{if .A}}a{{end}}{{if .B}}<b>b</b>{{else}}c{{end}}</p>`,
		"branches of rows":   `<table><tr><td>0</td></tr>{{if .A}}<tr><td>a</td></tr>{{else}}<tr><td>b</td></tr><tr><td>c</td></tr>{{end}}</table>`,
		"first row":          `<table>{{if .A}}<tr><td>a</td></tr>{{end}}<tr><td>b</td></tr></table>`,
		"no rows":            `<table>{{range .List}}<tr><td>{{.}}</td></tr>{{end}}</table><p>x</p>`,
		"rows in tbody":      "<table>\n<thead><tr><th>x</th></tr></thead>\n<tbody>\n{{- range .List}}\n<tr><td>{{.}}</td></tr>\n{{- end}}\n</tbody></table>",
		"rows and cells":     `<table>{{range $i, $row := .Rows}}<tr>{{range .Cells}}<td id="c{{$i}}">{{.}}{{$.S}}</td>{{else}}<td>-</td>{{end}}</tr>{{else}}<tr><td>none</td></tr>{{end}}</table>`,
		"nested":             `{{if .A}}<p>a{{if .B}}<b>b</b>{{else}}{{if .S}}<i>{{.S}}</i>{{end}}{{end}}</p>{{end}}`,
		"else if":            `<p>{{if .A}}a{{else if .B}}b{{else}}c{{end}}</p>`,
		"with":               `<p>{{with .S}}<b>{{.}}{{$.S}}</b>{{else}}none{{end}}{{with .List}}{{index . 0}}{{else with .S}}{{.}}{{end}}</p>`,
		"with else":          `{{with .S}}<p>{{.}}</p>{{else}}{{template "other" .}}{{end}}`,
		"variables":          `{{$x := .S}}{{$y := "k"}}<p title="{{$y}}">{{$x}}{{if .A}}{{$y = "l"}}{{end}}{{$y}}</p>`,
		"break and continue": `<p>{{range .List}}{{if eq . "b"}}{{continue}}{{end}}{{.}}{{if eq . "c"}}{{break}}{{end}},{{end}}</p>`,
		"integers":           `<p>{{range 3}}{{.}}{{end}}{{range $i := 2}}{{$i}}{{end}}</p>`,
		"strings":            "<p title=\"{{printf \"%q}}\" .S}}\">{{\"}}\"}}{{`<b>\"{{`}}{{printf \"<i title='%s'>\" .S}}</p>",
		"pipes":              `<p>{{(len .List) | printf "%03d"}}{{and .A (or .B (not .A))}}{{.S | len}}{{'x'}}{{-1}}</p>`,
		"comments":           `<p>{{/* a */}}a{{- /* <b> */ -}} b<!-- c {{.S}} --><!--{{if .A}}-->d<!--{{end}}--></p>`,
		"conditional":        `<!--[if mso]><table><tr><td><![endif]--><p>{{.S}}</p><!--[if mso]></td></tr></table><![endif]--><!--[if !mso]><!--><i>x</i><!--<![endif]-->`,
		"trims":              "<p> a {{- .S -}} b {{- if .A}} c {{- end}} d</p>",
		"entities":           `<p title="&amp;amp;&quot;">&amp; &lt;b&gt; &nbsp;&zwnj;&#847; ñandú €&nbsp;1 👩‍👧 &amp;lt;</p>`,
		"lonely <":           `<p>1 < 2 {{.S}} > 3 & 4</p>`,
		"braces":             `<p title="{ {{- .S}}}">{ {{- .S}}} {&#123;.S}} &#123;&#123;.S}} {{"{{"}}</p>`,
		"braces that meet":   `<p>{{block "brace" .}}{{"{"}}{{end}}{{template "brace" .}}</p><p>{{template "open" .}}{{template "open" .}}</p>`,
		"a mark":             `<p title="bzq0q">bzq0q BZQ1Q &#98;zq2q bzqq0q {{.S}} bzq99q</p>`,
		"a hidden mark":      `<p>&#98;zq0q {{.S}}</p>`,
		"a mark as a name":   `<p BZQ7Q="x">{{.S}}</p>`,
		"a script":           `<script type="application/ld+json">{"a": {"b": {{.S}}}}</script>`,
		"a mark that meets":  `<p>bz{{template "half" .}} {{.S}}</p>`,
		"void":               `<p>a<br>b<br/>{{if .A}}<img class="x">{{end}}</p><hr>`,
		"pre":                "<pre>\n a {{.S}}\n</pre><textarea>{{.S}}</textarea>",
		"called":             `{{template "scope" .}}<p>{{template "inner" .}}</p>{{if .A}}{{template "inner" .}}{{end}}`,
		"scope":              `{{$x := "mine"}}{{template "scope" .}}<p>{{$x}}</p>`,
		"defined":            `{{define "late"}}<b>{{.S}}</b>{{end}}<p>{{template "late" .}}</p>`,
		"words of elements":  `<p>body</p><p>style</p>html<i>tbody</i>`,
	} {
		document := strings.Replace(documentOf("", body), "<title>x", "<title>{{.S}} & {{if .A}}a{{end}} {{template \"inner\" .}}", 1) +
			`{{define "inner"}}in {{.S}}{{end}}{{define "other"}}<p>other {{.S}}</p>{{end}}{{define "open"}}{{"{"}}{ {{- end}}` +
			`{{define "half"}}q0q{{end}}{{define "scope"}}{{$x := "theirs"}}<p>{{$x}}</p>{{end}}`
		source, err := inlineOne(document)
		if !assert.NoError(t, err, name) {
			continue
		}
		written, err := template.New("written").Parse(document)
		require.NoError(t, err, name)
		made, err := template.New("made").Parse(source)
		if !assert.NoError(t, err, "%s: %s", name, source) {
			continue
		}
		for _, data := range []inlineData{
			{},
			{A: true, S: "<b>&{{.S}}\"'", List: []string{"a"}},
			{B: true, S: "bzq0q", List: []string{"a", "b", "c", "d"}, Rows: make([]struct{ Cells []string }, 1)},
			{A: true, B: true, List: []string{"b"}, Rows: []struct{ Cells []string }{{[]string{"1", "2"}}, {[]string{"3", "4"}}}},
		} {
			assert.Equal(t, execute(t, written, data), execute(t, made, data), "%s: %+v", name, data)
		}
	}
}

// execute returns a document as parsers understand it, without the style sheet.
func execute(t *testing.T, tmpl *template.Template, data any) string {
	t.Helper()
	var out strings.Builder
	require.NoError(t, tmpl.Execute(&out, data))
	root, err := html.Parse(strings.NewReader(strings.ReplaceAll(out.String(), "<style></style>", "")))
	require.NoError(t, err)
	out.Reset()
	require.NoError(t, html.Render(&out, root))
	return out.String()
}

// Nothing is added that a branch would leave open.
func TestNoTagIsAdded(t *testing.T) {
	t.Parallel()
	body := `<table><tr><td>a</td></tr></table><table>{{range .List}}<tr><td>b</td></tr>{{end}}</table>` +
		`<table><tbody><tr><td>c<br></td></tr></tbody></table><img src="a/">`
	assert.Equal(t, body, bodyOf(t, "", body))
	source, err := inlineOne(`<p>{{.S}}</p>`)
	require.NoError(t, err)
	assert.Equal(t, `<p>{{.S}}</p>`, source)
	assert.Equal(t, "<p>a<br>b</p>", bodyOf(t, "", "<p>a<br/>b</p>"))
}

func TestWhatCannotBeInlinedIsRefused(t *testing.T) {
	t.Parallel()
	const inTag = "within a tag an action may stand in the value of an attribute other than class, and nowhere else"
	const inStyle = "within a style sheet an action may stand in the value of a property, and nowhere else"
	for body, want := range map[string]string{
		`<td {{if .A}}width="1"{{end}}>x</td>`:                               "layout.html:7:15: {{if .A}}: " + inTag,
		`<td {{if .A}}nowrap{{end}}>x</td>`:                                  "{{if .A}}: " + inTag,
		`<td {{.S}}>x</td>`:                                                  "{{.S}}: " + inTag,
		`<td{{.S}}>x</td>`:                                                   "{{.S}}: " + inTag,
		`<{{.S}}>x</{{.S}}>`:                                                 "{{.S}}: " + inTag,
		`<td {{.S}}="x">x</td>`:                                              "{{.S}}: " + inTag,
		`<p class="a {{.S}}">x</p>`:                                          "{{.S}}: " + inTag,
		`<p class="{{if .A}}a{{end}}">x</p>`:                                 "{{if .A}}: " + inTag,
		`<p>{{if .A}}a</p>{{else}}b</p>{{end}}`:                              "</p> closes nothing that was opened in its branch; open is layout.html:7:14: {{if .A}}",
		`{{if .A}}<b>{{else}}</b>{{end}}`:                                    "{{else}}: <b> was opened in the branch that ends here, and is not closed",
		`{{if .A}}<b>{{end}}x{{if .A}}</b>{{end}}`:                           "{{end}}: <b> was opened in the branch that ends here",
		`{{range .List}}<p>{{.}}{{end}}</p>`:                                 "{{end}}: <p> was opened in the branch that ends here",
		`<p>a<p>b</p>`:                                                       "</body> closes nothing that was opened in its branch; open is <p>",
		`<div><b>x</div></b>`:                                                "</div> closes nothing that was opened in its branch; open is <b>",
		`x</p>`:                                                              "</p> closes nothing",
		`<p>x<div>y</div></p>`:                                               "not well formed",
		`<table>x<tr><td>y</td></tr></table>`:                                `not well formed at or before "<table>"`,
		`<table>body<tr><td>y</td></tr></table>`:                             `not well formed at or before "<table>"`,
		`<table>style<tr><td>y</td></tr></table>`:                            `not well formed at or before "<table>"`,
		`<table><td>x</td></table>`:                                          `not well formed at or before "<td>"`,
		`<p>x</p><a href="`:                                                  "the HTML ends within",
		`<p>x</p><!-- x`:                                                     "<body> is not closed",
		`<i title="a" title="{{.S}}">x</i>`:                                  "{{.S}} stands where HTML allows no value",
		`{{if .A}}<style>p { color: red }</style>{{end}}`:                    "<style> is in a branch, and its rules would apply without",
		`<style>p { {{if .A}}color: red{{end}} }</style>`:                    "{{if .A}}: there are no branches in a style sheet",
		`<style>{{.S}} { color: red }</style>`:                               "{{$.S}}: " + inStyle,
		`<style>p { {{.S}}: red }</style>`:                                   "{{$.S}}: " + inStyle,
		`<style>p { {{.S}} }</style>`:                                        "{{$.S}}: " + inStyle,
		`<style>a:{{.S}} { color: red }</style>`:                             "{{$.S}}: " + inStyle,
		`<style>p { color: {{printf "red"}} }</style>`:                       `{{printf "red"}}: in a style sheet an action is a field of the page, such as {{.Brand.Primary}}`,
		`{{$x := .S}}<style>p { color: {{$x}} }</style>`:                     `{{$x}}: in a style sheet an action is a field of the page`,
		`<style>@font-face { font-family: x }</style>`:                       "@font-face: of such rules a style sheet may have @media alone",
		`<style>@import "x";</style>`:                                        "@import: of such rules",
		`<style>@supports (color: red) { p {} }</style>`:                     "@supports: of such rules",
		`{{range .List}}{{template "t" .}}{{end}}`:                           `layout.html:7:32: {{template "t" .}}: a template cannot be called within range or with in HTML`,
		`{{with .S}}{{template "t" .}}{{end}}`:                               "within range or with",
		`{{template "t" .S}}`:                                                `{{template "t" .S}}: only {{template "t" .}} can be called in HTML`,
		`{{template "t"}}`:                                                   `{{template "t"}}: only {{template "t" .}} can be called in HTML`,
		`{{template "loop" .}}{{define "loop"}}{{template "loop" .}}{{end}}`: `{{template "loop" .}}: the template calls itself`,
		`{{template "a" .}}{{define "a"}}{{template "b" .}}{{end}}{{define "b"}}{{if .A}}{{template "a" .}}{{end}}{{end}}`: `{{template "a" .}}: the template calls itself`,
		`{{template "nowhere" .}}`: `layout.html:7:17: {{template "nowhere" .}}: there is no template of that name`,
	} {
		_, err := inlineOne(documentOf("", body) + `{{define "t"}}x{{end}}`)
		assert.ErrorContains(t, err, want, body)
	}
	for _, document := range []string{"<html><body>", "<p>x", "<html>\n<head>\n<title>x"} {
		_, err := inlineOne(document)
		assert.ErrorContains(t, err, "is not closed", document)
	}
}

// The inliner keeps elements in a map; what it makes must not depend on it.
func TestInliningIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	var css, body strings.Builder
	for i := range 20 {
		fmt.Fprintf(&css, ".c%d { width: %dpx; color: {{.S}} } .c%d b, .c%d i { margin: %dpx } .c%d:hover { color: red } @media print { .c%d { color: {{.S}} } }\n", i%7, i, i, i%3, i, i, i)
		fmt.Fprintf(&body, `<p class="c%d c%d">{{.S}}<b>x</b><i style="padding:0">y</i></p>`, i, i%7)
	}
	first, err := inlineOne(documentOf(css.String(), body.String()))
	require.NoError(t, err)
	for range 50 {
		again, err := inlineOne(documentOf(css.String(), body.String()))
		require.NoError(t, err)
		require.Equal(t, first, again)
	}
}
