package view_test

import (
	"strings"
	"testing"
	"testing/quick"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

func TestOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                        "",
		" \t\r\n ":                "",
		"\u200b\u202e\ufeff":      "",
		"Ana":                     "Ana",
		"  Ana \r\n\t Pérez  ":    "Ana Pérez",
		"Ana\x00\x1b[3mP\u0085":   "Ana [3mP",
		"a\u2028b\u00a0c":         "a b c",
		"\u202Ea\u2066b\u200Fc":   "abc",
		"a\xffb":                  "a\uFFFDb",
		"0123456789":              "0123456789",
		"0123456789a":             "012345678…",
		"01234567 89a":            "01234567…",
		"0123456e\u0301\u0301xyz": "0123456e…",
		"0123456👩\u200D👧xyz":      "0123456👩…",
	} {
		assert.Equal(t, want, view.OneLine(text, 10), "%q", text)
	}
}

// Whatever comes in, a header can hold what comes out.
func TestOneLineProperties(t *testing.T) {
	t.Parallel()
	fits := func(raw []byte, text string) bool {
		line := view.OneLine(string(raw)+text+string(raw), 20)
		return utf8.ValidString(line) && utf8.RuneCountInString(line) <= 20 &&
			!strings.ContainsFunc(line, unicode.IsControl) && strings.TrimSpace(line) == line && view.OneLine(line, 20) == line
	}
	assert.NoError(t, quick.Check(fits, &quick.Config{MaxCount: 2000}))
}

func TestLines(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"Acme S.A.", "RUT 21"}, view.Lines("\n Acme  S.A.\r\n\r\n\tRUT 21\n\n"))
	assert.Empty(t, view.Lines(" \n"))
}
