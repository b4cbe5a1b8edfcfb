package notify

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/retry"
)

// elements returns the elements of an e-mail in their order, each with its
// attributes, and fails where it is not well formed.
func elements(t *testing.T, html string) []xml.StartElement {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(html))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var all []xml.StartElement
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok {
			all = append(all, start.Copy())
		}
	}
}

func attribute(e xml.StartElement, name string) (string, bool) {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value, true
		}
	}
	return "", false
}

// shape is an e-mail without its values: what text must never change.
func shape(t *testing.T, html string) []string {
	t.Helper()
	var all []string
	for _, e := range elements(t, html) {
		tag := e.Name.Local
		for _, a := range e.Attr {
			tag += " " + a.Name.Local
		}
		all = append(all, tag)
	}
	return all
}

// contents renders every view with a brand, a name and a code.
func contents(t *testing.T, brand Brand, name, code string) map[string]content {
	t.Helper()
	welcome, err := newView("welcome", welcomeSamples()...)
	require.NoError(t, err)
	reset, err := newView("password_reset", passwordResetSamples()...)
	require.NoError(t, err)
	attempt := PasswordReset{Code: RecoveryCode(code), ExpiresAt: time.Date(2026, time.March, 19, 18, 4, 0, 0, time.UTC)}

	all := map[string]content{}
	all["welcome"], err = welcome.render(welcomeData{identity: identityOf(brand), Recipient: personName(name)})
	require.NoError(t, err)
	all["password_reset"], err = reset.render(attempt.data(brand, personName(name), nil))
	require.NoError(t, err)
	return all
}

// What mail programs need, and what they refuse.
func TestHTMLForMailPrograms(t *testing.T) {
	t.Parallel()
	bare := Brand{Name: "Club"}
	for _, brand := range []Brand{sampleBrand(), bare} {
		for name, c := range contents(t, brand, "Ana", "483920") {
			all := elements(t, c.html)
			require.NotEmpty(t, all)
			assert.Equal(t, "html", all[0].Name.Local)
			seen := map[string]int{}
			for _, e := range all {
				tag := e.Name.Local
				seen[tag]++
				switch tag {
				case "table":
					role, _ := attribute(e, "role")
					assert.Equal(t, "presentation", role, "%s: a table is layout, not data", name)
				case "img":
					alt, _ := attribute(e, "alt")
					assert.Equal(t, "Club", alt, "%s: readable with images blocked", name)
				case "a":
					style, _ := attribute(e, "style")
					assert.Contains(t, style, "color:", "%s: inline styles", name)
				case "script", "link", "iframe", "form", "input", "object", "video", "svg", "base":
					t.Errorf("%s has a <%s>", name, tag)
				}
			}
			for _, a := range all[0].Attr {
				seen[a.Name.Local+"="+a.Value]++
			}
			assert.Equal(t, 1, seen["lang=es"], name)
			assert.Equal(t, 1, seen["dir=ltr"], name)
			assert.Equal(t, 1, seen["h1"], name)
			assert.Equal(t, 1, seen["title"], name)
			assert.Contains(t, c.html, "max-width:600px", name)
			assert.Contains(t, c.html, `<meta name="color-scheme" content="light dark">`, name)
			assert.NotContains(t, c.html, "@import", name)
			assert.NotRegexp(t, `url\(`, c.html, "%s: nothing is fetched but the logo", name)
			assert.NotContains(t, c.html, "ZgotmplZ", "%s: html/template refused a value", name)
		}
	}
	assert.NotContains(t, contents(t, bare, "", "1")["welcome"].html, "<img")
}

var entity = regexp.MustCompile(`&(#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);`)

// hostile is text that would do harm somewhere.
const hostile = `"><script>alert('1')</script><img src=x onerror=y>{{.Code}}&amp;</td></table>` + "\r\n\tBcc: x\x00\u202E end"

// What comes from the host changes no markup, and subject and text show it as
// it is.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	brand := sampleBrand()
	plain := contents(t, brand, "Ana", "483920")
	brand.Name = hostile
	line := strings.ReplaceAll(hostile, "\r\n", " ")
	brand.Footer = line + "\n" + line // two lines, as the sample's
	brand.LogoURL, brand.WebsiteURL = `https://x.example/"><b>?q='`, `https://x.example/"><script>`
	require.NoError(t, brand.Validate())
	for name, c := range contents(t, brand, hostile, hostile[:maxCode]) {
		assert.Equal(t, shape(t, plain[name].html), shape(t, c.html), name)
		assert.NotContains(t, c.html, "\u202E", name)
		assert.NotContains(t, c.html, "\x00", name)
		assert.Contains(t, c.text, `"><script>alert('1')</script>`, name)
		assert.NotRegexp(t, entity, strings.ReplaceAll(c.subject+c.text, "&amp;", ""), name)
		assert.NotContains(t, c.text, "&#", name)
		assert.NotContains(t, c.subject, "\n", name)
		assert.NotContains(t, c.subject, "\r", name)
		assert.Contains(t, c.subject, `"><script>`, name)
	}
}

func TestTextsReadWell(t *testing.T) {
	t.Parallel()
	for _, brand := range []Brand{sampleBrand(), {Name: "Club"}} {
		for _, name := range []string{"Ana", ""} {
			for view, c := range contents(t, brand, name, "483920") {
				assert.NotContains(t, c.text, "\n\n\n", view)
				assert.False(t, strings.HasPrefix(c.text, "\n"), view)
				assert.NotEmpty(t, c.subject, view)
				assert.NotContains(t, c.subject, "483920", view)
				assert.NotContains(t, c.html[:strings.Index(c.html, "<h1")], "483920", "%s: neither title nor preview", view)
				if name == "" {
					assert.True(t, strings.HasPrefix(c.text, "Hola:\n"), view)
					assert.Contains(t, c.html, ">Hola:<", view)
				} else {
					assert.True(t, strings.HasPrefix(c.text, "Hola, Ana:\n"), view)
				}
			}
		}
	}
}

// Every attempt must compose the same bytes.
func TestRenderingIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	first := contents(t, sampleBrand(), "Ana", "483920")
	assert.Equal(t, first, contents(t, sampleBrand(), "Ana", "483920"))
}

// A fault of a view shows when the service is made.
func TestViewFaults(t *testing.T) {
	t.Parallel()
	_, err := newView[welcomeData]("nowhere")
	assert.ErrorContains(t, err, "view nowhere:")

	_, err = newView("password_reset", welcomeSamples()...)
	assert.ErrorContains(t, err, "view password_reset: sample 1:")
	assert.ErrorContains(t, err, "Code")

	v, err := newView[welcomeData]("password_reset") // without a sample
	require.NoError(t, err)
	_, err = v.render(welcomeSamples()[0])
	assert.ErrorContains(t, err, "notify: view password_reset:")
	assert.True(t, retry.IsPermanent(err))
}
