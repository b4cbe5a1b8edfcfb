package mailcheck

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const document = `<!DOCTYPE html>
<html lang="es">
<head>
<meta charset="utf-8">
<title>Su confirmación</title>
</head>
<body>
<p>Adiós</p>
<img src="https://example.org/x.png" alt="">
<table role="presentation"><tbody><tr><td>x</td></tr></tbody></table>
</body>
</html>
`

func TestHTMLAcceptsADocument(t *testing.T) {
	t.Parallel()
	HTML(t, map[string]string{
		"es/welcome": document,
		"on a wire":  strings.ReplaceAll(document, "\n", "\r\n"),
	}, nil)
}

func TestHTMLNamesEveryFault(t *testing.T) {
	t.Parallel()
	pages, want := map[string]string{}, []string{}
	for _, test := range []struct{ name, old, new, fault string }{
		{"1/alt", ` alt=""`, "", "line 9: <img> is missing required \"alt\" attribute (wcag/h37)"},
		{"2/close", "Adiós</p>", "Adiós", "line 8: Element <p> is implicitly closed by adjacent <table> (no-implicit-close)"},
		{"3/doctype", "<!DOCTYPE html>\n", "", "line 1: Document is missing doctype (missing-doctype)"},
		{"4/nesting", "Adiós", "<i><b>x</i></b>", "line 8: Unclosed element '<b>' (close-order)"},
		{"5/entity", "Adiós", "&nosuch;", "line 8: Unrecognized character reference \"&nosuch;\" (unrecognized-char-ref)"},
		{"6/style", "<p>", `<p style="color:red">`, "line 8: Inline style is not allowed (no-inline-style)"},
		{"7/title", "<title>Su confirmación</title>", "", "line 3: <head> element must have <title> as content (element-required-content)"},
	} {
		pages[test.name] = strings.Replace(document, test.old, test.new, 1)
		require.NotEqual(t, document, pages[test.name])
		want = append(want, test.name+", "+test.fault)
	}
	pages["8/good"] = document
	found, err := validate(t.Context(), htmlValidate(t), t.TempDir(), pages, nil)
	require.NoError(t, err)
	for _, fault := range want {
		assert.Contains(t, found, fault)
	}
	assert.NotContains(t, strings.Join(found, "\n"), "8/good")
}

func TestHTMLAllowsARuleForAReason(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"mail": strings.Replace(document, "<p>", `<p style="color:red">`, 1)}
	HTML(t, pages, map[string]string{"no-inline-style": "some clients drop style elements"})

	_, err := validate(t.Context(), "true", t.TempDir(), pages, map[string]string{"no-inline-style": ""})
	require.ErrorContains(t, err, "rule no-inline-style is allowed without a reason")
}

func TestHTMLSaysThatTheProgramFailed(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"mail": document}
	for line, words := range map[string]string{
		"echo no >&2; exit 2":  "exit status 2\nno",
		"echo no":              "no such file or directory",
		"echo no >report.json": "the report is not readable",
	} {
		_, err := validate(t.Context(), fake(t, line), t.TempDir(), pages, nil)
		require.ErrorContains(t, err, words)
	}
	_, err := validate(t.Context(), "/buzon/missing", t.TempDir(), pages, nil)
	require.ErrorContains(t, err, "no such file")
}

func TestHTMLValidateIsFoundByItsVariable(t *testing.T) {
	t.Setenv(HTMLValidate, "/some/where")
	assert.Equal(t, "/some/where", htmlValidate(t))
}
