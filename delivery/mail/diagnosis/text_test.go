package diagnosis_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/diagnosis"
)

// everyCause returns the constants of the package's source, so that none can be
// forgotten.
func everyCause(t *testing.T) []diagnosis.Cause {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "cause.go", nil, 0)
	require.NoError(t, err)
	var causes []diagnosis.Cause
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		require.NoError(t, err)
		causes = append(causes, diagnosis.Cause(value))
		return false
	})
	require.Greater(t, len(causes), 20)
	return causes
}

func TestEveryCauseHasItsTextInEveryLanguage(t *testing.T) {
	t.Parallel()
	seen := map[string]diagnosis.Cause{}
	for _, cause := range everyCause(t) {
		d := diagnosis.Diagnosis{Cause: cause}
		assertPresentable(t, d)
		for _, language := range languages {
			text := d.Text(language)
			assert.Empty(t, seen[text], "%s has the text of another cause", cause)
			seen[text] = cause
			assert.Greater(t, len(text), 60, "%s %s", cause, language)
			for _, fault := range []string{"  ", "..", "WORDS", "CODE"} {
				assert.NotContains(t, text, fault)
			}
		}
	}
}

func TestLanguageIsCutFromTheTag(t *testing.T) {
	t.Parallel()
	d := diagnosis.Diagnosis{Cause: diagnosis.MailboxFull}
	for tag, language := range map[string]string{
		"": "es", "es-AR": "es", "es-419": "es", "fr": "es", "-": "es", "ES": "es", "english": "es",
		"en-GB": "en", "EN": "en", "en_US": "en",
		"pt-BR": "pt", "pt-PT": "pt", "Pt": "pt",
	} {
		assert.Equal(t, d.Text(language), d.Text(tag), "%q", tag)
	}
}

func TestWhatTheServerSaidComesLast(t *testing.T) {
	t.Parallel()
	for want, d := range map[string]diagnosis.Diagnosis{
		" El servidor dijo: «no CODE» (código 550 5.1.1).": {Code: 550, Enhanced: "5.1.1", Server: "no CODE"},
		" El servidor dijo: «no» (código 550).":            {Code: 550, Server: "no"},
		" El servidor dijo: «no» (código 5.1.1).":          {Enhanced: "5.1.1", Server: "no"},
		" El servidor dijo: «no».":                         {Server: "no"},
		" El servidor respondió con el código 550.":        {Code: 550},
	} {
		d.Cause = diagnosis.RecipientRefused
		explanation := diagnosis.Diagnosis{Cause: d.Cause}.Text("es")
		assert.Equal(t, explanation+want, d.Text("es"))
	}
}

func TestZeroAndUnknownCausesReadAsOther(t *testing.T) {
	t.Parallel()
	other := diagnosis.Diagnosis{Cause: diagnosis.Other}
	for _, language := range languages {
		assert.Equal(t, other.Text(language), diagnosis.Diagnosis{}.Text(language))
		assert.Equal(t, other.Text(language), diagnosis.Diagnosis{Cause: "of a later version"}.Text(language))
	}
}

func FuzzDiagnosis(f *testing.F) {
	f.Add("rcpt", 550, "5.1.1", "recipient", "unknown", true, "<ana@example.net>: user unknown", "es-AR")
	f.Add("auth", 535, "5.7.8", "integration", "", false, "https://example.com/?p=x AHJvYm90AGh1bnRlcjI=", "en")
	f.Add("tls", 0, "", "integration", "", false, "", "")
	f.Add("dot", 200, "x", "", "", true, "\"a b\"@c «»\x00\xff", "-")
	f.Fuzz(func(t *testing.T, phase string, code int, enhanced, reach, certainty string, temporary bool, text, language string) {
		failure := &mail.SendError{Phase: mail.Phase(phase), Code: code, Enhanced: enhanced, Reach: mail.Reach(reach),
			Certainty: mail.Certainty(certainty), Temporary: temporary, Err: errors.New(text)}
		for _, d := range []diagnosis.Diagnosis{diagnosis.OfError(failure), diagnosis.OfReceipt(mail.Receipt{Response: text})} {
			said := d.Text(language)
			assert.NotEmpty(t, d.Cause)
			assert.True(t, strings.HasSuffix(said, "."))
			assert.NotRegexp(t, `[\pL\pN._+-]@[\pL\pN]`, said)
			assert.NotContains(t, said, "\n")
			assert.LessOrEqual(t, len([]rune(d.Server)), 200)
		}
	})
}
