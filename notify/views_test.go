package notify_test

import (
	"fmt"
	netmail "net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/internal/mailcheck"
	"github.com/buzon-go/buzon/notify"
)

var everyLanguage = []string{"es", "en", "pt"}

// previews renders every e-mail in every language with two brands, one that has
// everything and one that has next to nothing.
func previews(t *testing.T) map[string]notify.Preview {
	t.Helper()
	views, err := notify.NewViews(nil)
	require.NoError(t, err)
	require.Equal(t, everyLanguage, views.Languages())
	all := map[string]notify.Preview{}
	for brandName, brand := range map[string]view.Brand{
		"full": view.SampleBrand(),
		"bare": {Name: "Club", PrimaryColor: "#ffe94d", From: netmail.Address{Address: "hola@club.example"}},
	} {
		for _, language := range views.Languages() {
			rendered, err := views.Previews(t.Context(), notify.Tenant{Brand: brand, Language: "es-UY", TimeZone: montevideo}, language)
			require.NoError(t, err)
			for i, preview := range rendered {
				all[fmt.Sprintf("%s %s %s %d", preview.Kind, language, brandName, i)] = preview
			}
		}
	}
	return all
}

// elements returns a document's start tags in their order.
func elements(document string) []html.Token {
	var tags []html.Token
	for tokens := html.NewTokenizer(strings.NewReader(document)); ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return tags
		case html.StartTagToken, html.SelfClosingTagToken:
			tags = append(tags, tokens.Token())
		}
	}
}

func attribute(tag html.Token, name string) string {
	for _, a := range tag.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// What mail programs need, and what they refuse.
func TestHTMLForMailPrograms(t *testing.T) {
	t.Parallel()
	for name, preview := range previews(t) {
		language := strings.Fields(name)[1]
		seen := map[string]int{}
		all := elements(preview.Message.HTML)
		require.NotEmpty(t, all, name)
		for _, tag := range all {
			seen[tag.Data]++
			switch tag.Data {
			case "html":
				assert.Equal(t, language, strings.Split(attribute(tag, "lang"), "-")[0], name)
				assert.Equal(t, "ltr", attribute(tag, "dir"), name)
			case "table":
				assert.NotEmpty(t, attribute(tag, "role"), "%s: a table is layout, or says that it is data", name)
			case "img":
				assert.NotEmpty(t, attribute(tag, "alt"), "%s: readable with images blocked", name)
			case "a":
				assert.Contains(t, attribute(tag, "style"), "color:", "%s: inline styles", name)
			case "p", "h1":
				assert.Contains(t, attribute(tag, "style"), "margin", "%s: inline styles", name)
			case "script", "link", "iframe", "form", "input", "object", "video", "svg", "base":
				t.Errorf("%s has a <%s>", name, tag.Data)
			}
		}
		assert.Equal(t, 1, seen["h1"], name)
		assert.Equal(t, 1, seen["title"], name)
		assert.Contains(t, preview.Message.HTML, "prefers-color-scheme:", name)
		assert.NotRegexp(t, `url\(|@import`, preview.Message.HTML, "%s: nothing is fetched but the logo", name)
		assert.Less(t, len(preview.Message.HTML), 100_000, "%s: Gmail cuts what is longer", name)
	}
}

var entity = regexp.MustCompile(`&(#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);`)

func TestTextsReadWell(t *testing.T) {
	t.Parallel()
	for name, preview := range previews(t) {
		text := preview.Message.Text
		assert.NotContains(t, text, "\n\n\n", name)
		assert.False(t, strings.HasPrefix(text, "\n"), name)
		assert.NotRegexp(t, entity, text+preview.Message.Subject, "%s: text is no HTML", name)
		assert.NotContains(t, text, "<", name)
		assert.LessOrEqual(t, len([]rune(preview.Message.Subject)), 100, name)
		if preview.Kind == notify.KindPasswordReset {
			beginning, _, _ := strings.Cut(preview.Message.HTML, "<h1")
			for _, code := range []string{"483920", "K7QF"} {
				assert.NotContains(t, preview.Message.Subject, code, "%s: subjects show on locked screens", name)
				assert.NotContains(t, beginning, code, "%s: neither title nor preview", name)
			}
		}
	}
}

// The final bytes of every e-mail hold to the standards, as another parser
// reads them.
func TestMessagesOnTheWire(t *testing.T) {
	t.Parallel()
	for name, preview := range previews(t) {
		message := preview.Message
		raw, err := smtp.Compose(&message)
		require.NoError(t, err, name)
		again, err := smtp.Compose(&message)
		require.NoError(t, err, name)
		assert.Equal(t, raw, again, "%s: the same bytes each time", name)
		parsed := mailcheck.Wire(t, raw)
		assert.Equal(t, message.Subject, parsed.Subject, name)
		assert.Equal(t, strings.ReplaceAll(message.HTML, "\n", "\r\n"), strings.TrimSuffix(parsed.HTML, "\r\n"), name)
		assert.Len(t, parsed.Attachments, len(message.Attachments), name)
	}
}

func TestSpamFilterLetsEveryEmailPass(t *testing.T) {
	t.Parallel()
	messages := map[string][]byte{}
	for name, preview := range previews(t) {
		raw, err := smtp.Compose(&preview.Message)
		require.NoError(t, err)
		messages[name] = raw
	}
	scores := mailcheck.SpamScores(t, messages)
	require.Len(t, scores, len(messages))
	for name, score := range scores {
		assert.Less(t, score, 1.0, name)
	}
}

func TestHTMLIsValid(t *testing.T) {
	t.Parallel()
	pages := map[string]string{}
	for name, preview := range previews(t) {
		pages[name] = preview.Message.HTML
	}
	mailcheck.HTML(t, pages, map[string]string{
		"no-inline-style":    "mail programs drop style sheets",
		"no-deprecated-attr": "Outlook for Windows knows widths and colours as attributes only",
		"no-redundant-role":  "some screen readers take a table without a role for layout",
	})
}

// A host's file takes the place of the library's, and what is wrong with it is
// told when the views are made.
func TestViewsOfTheHost(t *testing.T) {
	t.Parallel()
	own := func(text string) fstest.MapFS { return fstest.MapFS{"es/welcome.txt": {Data: []byte(text)}} }
	const whole = `{{define "subject"}}Hola{{end}}{{define "reason"}}.{{end}}{{define "content"}}¡Llegaste, {{.Recipient}}!{{end}}`
	views, err := notify.NewViews(own(whole))
	require.NoError(t, err)
	rendered, err := views.Previews(t.Context(), notify.Tenant{Brand: view.SampleBrand()})
	require.NoError(t, err)
	assert.Equal(t, "Hola", rendered[0].Message.Subject)
	assert.Contains(t, rendered[0].Message.Text, "¡Llegaste, Ana Pérez!")

	for want, files := range map[string]fstest.MapFS{
		`view welcome in es: sample 1: template: es/welcome.txt:1:`: own(strings.Replace(whole, ".Recipient", ".Data.Surname", 1)),
		`view welcome in es: template: es/welcome.txt:1: unclosed`:  own("{{"),
		"es/welcom.txt is a file that no view reads":                {"es/welcom.txt": {Data: []byte(whole)}},
		"view test in en: ": {"layout.html": {Data: []byte("<html><body><p>{{template \"content\" .}}</body></html>")}},
	} {
		_, err := notify.NewViews(files)
		assert.ErrorContains(t, err, "notify: views: ")
		assert.ErrorContains(t, err, want)
	}
	_, err = notify.NewViews(fstest.MapFS{"es/welcome.txt": {Data: []byte("{{")}, "en/test.html": {Data: []byte("{{")}})
	assert.ErrorContains(t, err, "view welcome in es")
	assert.ErrorContains(t, err, "view test in en", "every fault")
}

func TestPreviewsWantAValidTenant(t *testing.T) {
	t.Parallel()
	views, err := notify.NewViews(nil)
	require.NoError(t, err)
	_, err = views.Previews(t.Context(), notify.Tenant{Language: "klingon!"})
	assert.ErrorContains(t, err, "notify: previews: Brand: Name is empty")
	assert.ErrorContains(t, err, "Language: ")
}

// Previews are of every kind, and the reader's language wins over the tenant's.
func TestPreviewsOfEveryKind(t *testing.T) {
	t.Parallel()
	views, err := notify.NewViews(nil)
	require.NoError(t, err)
	rendered, err := views.Previews(t.Context(), notify.Tenant{Brand: view.SampleBrand(), Language: "pt"}, "", "xx", "en-GB")
	require.NoError(t, err)
	var kinds []string
	for _, preview := range rendered {
		if !slices.Contains(kinds, preview.Kind) {
			kinds = append(kinds, preview.Kind)
		}
		assert.Equal(t, "en-GB", attribute(elements(preview.Message.HTML)[0], "lang"), preview.Kind)
	}
	assert.Equal(t, []string{
		notify.KindWelcome, notify.KindPasswordReset, notify.KindPurchaseConfirmed, notify.KindEventDateRescheduled,
		notify.KindEventDateSuspended, notify.KindTest, notify.KindIntegrationValidation,
	}, kinds)
}
