package ticketpdf

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestAllFontsShowTheSame(t *testing.T) {
	t.Parallel()
	assert.Greater(t, len(shown()), 2000)
	for name, file := range map[string]string{"bold": boldFile, "mono": monoFile} {
		has := coverage(file)
		for r := range shown() {
			assert.True(t, has[r], "%s lacks %U", name, r)
		}
	}
	for _, r := range "Az ñŁğễÞßΩЖ€₡₲₺…—−→" + string(missing) + ellipsis {
		assert.True(t, shown()[r], "%U", r)
	}
	assert.False(t, shown()['日'])
}

func TestTextIsCutBeforeTheWork(t *testing.T) {
	t.Parallel()
	assert.Equal(t, strings.Repeat("á", maxText)+ellipsis, clean(strings.Repeat("á", 1_000_000)))
	assert.Equal(t, strings.Repeat("á", maxText), clean(strings.Repeat("á", maxText)))
	assert.Less(t, len(joined(slices.Repeat([]string{"línea"}, 1_000_000))), 4*maxText)
}

func TestWrap(t *testing.T) {
	t.Parallel()
	letters := func(text string) float64 { return float64(utf8.RuneCountInString(text)) }
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing":               {"", nil},
		"blank":                 {" \n \n", nil},
		"as wide as a line":     {"12345678", []string{"12345678"}},
		"at spaces":             {"uno  dos tres", []string{"uno dos", "tres"}},
		"at line breaks":        {"uno\n\ndos", []string{"uno", "dos"}},
		"inside of a word":      {"a 123456789 b", []string{"a", "12345678", "9 b"}},
		"no break at NBSP":      {"uno dos\u00a0tres", []string{"uno", "dos\u00a0tres"}},
		"too much":              {"uno dos tres cuatro cinco", []string{"uno dos", "tres", "cuatro…"}},
		"too much, a full line": {"12345678\n12345678\n12345678\n1", []string{"12345678", "12345678", "1234567…"}},
	} {
		assert.Equal(t, test.want, wrap(test.text, 8, 3, letters), name)
	}
}

func TestPanicOfALibraryIsAnError(t *testing.T) {
	t.Parallel()
	work := func() (err error) {
		defer rescue("work", &err)
		panic("broken")
	}
	assert.EqualError(t, work(), "work: broken")
}
