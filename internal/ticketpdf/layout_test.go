package ticketpdf_test

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"rsc.io/qr"

	"github.com/buzon-go/buzon/internal/ticketpdf"
)

// codes are of each length and alphabet.
func codes() map[string]string {
	return map[string]string{
		"one digit": "1", "one letter": "x", "20 bytes": "A1042-7F3K9Q-22-XYZ9", "digits": strings.Repeat("0123456789", 30),
		"300 bytes": strings.Repeat("aB3-", 75), "300 of the widest": strings.Repeat("W m ", 75), "300 in UTF-8": strings.Repeat("ñ", 150),
		"URL": "https://entradas.example/v?c=A1042-7F3K9Q&s=3&h=c%C3%B1", "UTF-8": "Ñandú-çğİ-Ωμ-Жук", "none that the font has": "票券 🎫 שלום",
	}
}

func TestCodeCanBeScannedAndRead(t *testing.T) {
	t.Parallel()
	for name, code := range codes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := sample()
			d.Pages[0].Code = code
			file := draw(t, d)
			picture := render(t, file)[0]
			result := scan(t, picture)
			assert.Equal(t, code, result.GetText())
			assert.Equal(t, "M", result.GetResultMetadata()[gozxing.ResultMetadataType_ERROR_CORRECTION_LEVEL])
			place := placeOf(t, result, code)
			assert.GreaterOrEqual(t, place.symbol.right-place.symbol.left, 45*72/25.4)
			assertBlank(t, picture, place)
			if name != "none that the font has" {
				assert.Contains(t, allWords(t, file), squeezed(code))
			}
		})
	}
}

// allWords returns the words of a page without white space between them.
func allWords(t *testing.T, file []byte) string {
	t.Helper()
	var all strings.Builder
	words, _ := wordsOf(t, file)
	for _, word := range words {
		all.WriteString(word.text)
	}
	return all.String()
}

// squeezed returns text without white space, so that it does not matter where
// lines are broken.
func squeezed(text string) string { return strings.Join(strings.Fields(text), "") }

// extremes are pages that try to leave theirs.
func extremes() map[string]ticketpdf.Document {
	all := map[string]ticketpdf.Document{}
	for name, spoil := range map[string]func(d *ticketpdf.Document, p *ticketpdf.Page){
		"usual":             func(*ticketpdf.Document, *ticketpdf.Page) {},
		"heading in a word": func(_ *ticketpdf.Document, p *ticketpdf.Page) { p.Heading = strings.Repeat("W", 500) },
		"heading in words":  func(_ *ticketpdf.Document, p *ticketpdf.Page) { p.Heading = strings.Repeat("Gran función ", 40) },
		"long names": func(d *ticketpdf.Document, p *ticketpdf.Page) {
			name := strings.Repeat("María de los Ángeles ", 15)
			d.Brand.Name, p.Note, p.Fields[0].Value, p.Lines[1] = name, name, name, name
		},
		"40 fields": func(_ *ticketpdf.Document, p *ticketpdf.Page) { p.Fields = fields(40, "Valor") },
		"newlines": func(_ *ticketpdf.Document, p *ticketpdf.Page) {
			text := strings.Repeat("Línea\r\n\n", 50)
			p.Fields, p.Heading, p.Note, p.Lines[0] = fields(4, text), text, text, text
		},
		"30 footer lines": func(d *ticketpdf.Document, _ *ticketpdf.Page) { d.Brand.Footer = lines(30, "Texto legal") },
		"footer in a line": func(d *ticketpdf.Document, _ *ticketpdf.Page) {
			d.Brand.Footer = lines(1, strings.Repeat("legal ", 1000))
		},
		"unbroken footer":   func(d *ticketpdf.Document, _ *ticketpdf.Page) { d.Brand.Footer = lines(3, strings.Repeat("W", 900)) },
		"a million letters": func(_ *ticketpdf.Document, p *ticketpdf.Page) { p.Lines = lines(3, strings.Repeat("á", 1_000_000)) },
		"combining marks": func(_ *ticketpdf.Document, p *ticketpdf.Page) {
			p.Fields = fields(2, "x"+strings.Repeat("\u0317", 1500))
		},
		"everything": func(d *ticketpdf.Document, p *ticketpdf.Page) {
			text := strings.Repeat("Ŵídé ", 400)
			d.Brand.Name, d.Brand.Footer, d.Title = text, lines(30, text), text
			*p = ticketpdf.Page{Heading: text, Lines: lines(30, text), Fields: fields(60, text), Note: text, Code: strings.Repeat("W m ", 75)}
		},
	} {
		d := sample()
		spoil(&d, &d.Pages[0])
		all[name] = d
	}
	return all
}

func fields(count int, value string) []ticketpdf.Field {
	all := make([]ticketpdf.Field, count)
	for i := range all {
		all[i] = ticketpdf.Field{Label: fmt.Sprintf("Campo %d con una etiqueta larga, larga, larga", i), Value: value}
	}
	return all
}

func lines(count int, text string) []string {
	all := make([]string, count)
	for i := range all {
		all[i] = fmt.Sprintf("%d %s", i, text)
	}
	return all
}

func TestNothingRunsOutOfItsPlace(t *testing.T) {
	t.Parallel()
	for name, d := range extremes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := draw(t, d)
			words, page := wordsOf(t, file)
			code := placeOf(t, scan(t, render(t, file)[0]), d.Pages[0].Code).zone
			assert.True(t, code.within(page))
			for i, word := range words {
				assert.True(t, word.within(page), "%q leaves the page: %v", word.text, word.area)
				assert.False(t, word.overlaps(code), "%q is over the code: %v, %v", word.text, word.area, code)
				for _, other := range words[:i] {
					assert.False(t, core(word).overlaps(core(other)), "%q is over %q: %v", word.text, other.text, word.area)
				}
			}
		})
	}
}

// core is the part of a word that letters fill: the boxes of lines that follow
// closely share a little of their margins.
func core(w word) area {
	height := w.bottom - w.top
	return area{w.left + 0.1, w.top + 0.3*height, w.right - 0.1, w.bottom - 0.25*height}
}

// A place is where a QR code is on its page: the symbol, and with the quiet
// zone.
type place struct{ symbol, zone area }

// placeOf returns where the scanner saw the code.
func placeOf(t *testing.T, result *gozxing.Result, code string) place {
	t.Helper()
	points := result.GetResultPoints()
	require.GreaterOrEqual(t, len(points), 3)
	bottomLeft, topLeft, topRight := points[0], points[1], points[2]
	assert.InDelta(t, topLeft.GetX(), bottomLeft.GetX(), 1)
	assert.InDelta(t, topLeft.GetY(), topRight.GetY(), 1)
	const scale = 72.0 / dpi
	centres := area{topLeft.GetX() * scale, topLeft.GetY() * scale, topRight.GetX() * scale, bottomLeft.GetY() * scale}
	encoded, err := qr.Encode(code, qr.M)
	require.NoError(t, err)
	// The centres of the finder patterns are 3.5 modules from the edges of the
	// symbol, beyond which the quiet zone is 4 modules wide.
	module := (centres.right - centres.left) / float64(encoded.Size-7)
	return place{centres.grown(3.5 * module), centres.grown(7.5 * module)}
}

// assertBlank checks that nothing is in the quiet zone, two pixels from its
// edges, where the scanner's measure is not exact.
func assertBlank(t *testing.T, picture image.Image, p place) {
	t.Helper()
	const scale = dpi / 72.0
	outer, inner := p.zone.grown(-2/scale), p.symbol.grown(2/scale)
	for y := int(outer.top * scale); y < int(outer.bottom*scale); y++ {
		for x := int(outer.left * scale); x < int(outer.right*scale); x++ {
			point := area{float64(x) / scale, float64(y) / scale, float64(x+1) / scale, float64(y+1) / scale}
			if r, _, _, _ := picture.At(x, y).RGBA(); r < 0xf000 && !point.overlaps(inner) {
				t.Fatalf("the quiet zone is not blank at %d, %d: %+v", x, y, p)
			}
		}
	}
}
