package ticketpdf_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/ticketpdf"
)

// The words are in the file as they were given, so that they can be searched
// for, and read out.
func TestTextIsAsGiven(t *testing.T) {
	t.Parallel()
	given := []string{
		"Muñoz", "Łukasz", "Ağaoğlu", "Nguyễn Thị Ánh", "Þór Weiß", "İstanbul ılık", "Żółć", "Őrült ű", "Čeština řeřicha",
		"Ωμέγα", "Жёлтый ґанок", "€ $ ₡ ₲ ₺ £ ¥ ₩ ₽ US$ 12", "«así» “así” ‘así’ – — … ¿qué? ¡ya!", "19:30 (UTC−6) → 21 № 5 ½ ©®™",
		`C:\dir (a) [b] <c> {d} %e /f &amp;`, "Ċč čĊ",
	}
	d := sample()
	d.Pages = pages(len(given))
	for i, text := range given {
		d.Pages[i].Fields = []ticketpdf.Field{{Label: "X", Value: text}}
		d.Pages[i].Heading, d.Pages[i].Lines = text, []string{text}
	}
	for i, page := range textOf(t, draw(t, d)) {
		assert.Contains(t, page, given[i])
		assert.Equal(t, 3, strings.Count(squeezed(page), squeezed(given[i])), "%q in %q", given[i], page)
	}
}

func TestWhatTheFontsLack(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"n\u0303 e\u0301 o\u0302\u0301":           "ñ é ố",
		"Gala 🎉 2026 ❤️ 👩‍👩‍👧 🇨🇷 1️⃣ ☎":           "Gala 2026 1",
		"a\u200bb\u200dc\ufeffd\u00ade":           "abcde",
		"\u202eabc\u202c \u2066x\u2069\u200f":     "abc x",
		"a\x00b\x07c\x1b[0m\u0085d":               "abc[0m d",
		"日本 2026":                                 "□□ 2026",
		"שלום Ana":                                "□□□□ Ana",
		"مَرحبا":                                  "□□□□□",
		"\xff\xfe Ana":                            "□□ Ana",
		"\U00020000 \U0001d400 \ue000 \U0010fffd": "□ □ □ □",
		"a\tb\r\nc\u2028d\u3000e":                 "a b c d e",
	} {
		d := sample()
		d.Pages[0].Heading, d.Title, d.Brand.Name = given, given, given
		file := draw(t, d)
		words := ""
		found, _ := wordsOf(t, file)
		for _, word := range found {
			words += word.text + " "
		}
		assert.Contains(t, words, want+" ", "%q", given)
		assert.Regexp(t, `Title: +\Q`+want+`\E\n`, run(t, file, "pdfinfo", "-"), "%q", given)
	}
}

func TestFieldsWithoutAValueAreLeftOut(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Pages[0].Fields = []ticketpdf.Field{
		{Label: "Vacío"}, {Label: "Blanco", Value: " \n\u200b "}, {Value: "sin-etiqueta"}, {Label: "Fila", Value: "C"},
	}
	text := textOf(t, draw(t, d))[0]
	assert.NotContains(t, text, "Vacío")
	assert.NotContains(t, text, "Blanco")
	assert.Contains(t, text, "sin-etiqueta")
	assert.Contains(t, text, "Fila")
}

func TestFieldsBeyondTheLimitAreHintedAt(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Pages[0].Fields = nil
	for range ticketpdf.MaxFields + 5 {
		d.Pages[0].Fields = append(d.Pages[0].Fields, ticketpdf.Field{Value: "valor"})
	}
	counts := map[string]int{}
	words, _ := wordsOf(t, draw(t, d))
	for _, word := range words {
		counts[word.text]++
	}
	assert.Equal(t, ticketpdf.MaxFields-1, counts["valor"])
	assert.Equal(t, 1, counts["…"])
}

func TestPageOfACodeAlone(t *testing.T) {
	t.Parallel()
	file := draw(t, ticketpdf.Document{
		Brand: ticketpdf.Brand{Color: "#ffffff", OnColor: "#000000"},
		Pages: []ticketpdf.Page{{Code: "A1"}},
	})
	assert.Equal(t, "A1", scan(t, render(t, file)[0]).GetText())
	require.Len(t, textOf(t, file), 1)
}
