package ticketpdf

import (
	_ "embed" // the fonts
	"sync"

	"codeberg.org/go-pdf/fpdf"
)

// The fonts are strings so that each document gets its own copy of the bytes:
// fpdf may write into them.
var (
	//go:embed fonts/NotoSans-Regular.ttf
	regularFile string
	//go:embed fonts/NotoSans-Bold.ttf
	boldFile string
	//go:embed fonts/NotoSansMono-Regular.ttf
	monoFile string
)

const (
	sans = "NotoSans"
	mono = "NotoSansMono"
)

func addFonts(pdf *fpdf.Fpdf) {
	pdf.AddUTF8FontFromBytes(sans, "", []byte(regularFile))
	pdf.AddUTF8FontFromBytes(sans, "B", []byte(boldFile))
	pdf.AddUTF8FontFromBytes(mono, "", []byte(monoFile))
}

// A face is a font in a size.
type face struct {
	family, style string
	size          float64 // points
	leading       float64 // from line to line, times the size
}

const mmPerPoint = 25.4 / 72

// line returns the height of a line in mm.
func (f face) line() float64 { return f.size * f.leading * mmPerPoint }

// baseline returns how far it lies under the top of a line, in mm: text looks
// centred, for an "H" is 0.71 of the size high, and an "x" 0.54.
func (f face) baseline() float64 { return (f.leading/2 + 0.3) * f.size * mmPerPoint }

// shown are the characters that all three fonts have.
var shown = sync.OnceValue(func() map[rune]bool { return coverage(regularFile) })

// coverage returns the characters of a TrueType font, as the segments of its
// cmap in format 4 have them (OpenType, "cmap"). The fonts' segments, which
// subset.py makes, hold no gaps.
func coverage(font string) map[rune]bool {
	at := func(offset int) int { return int(font[offset])<<8 | int(font[offset+1]) }
	table := cmapTable(font, at)
	subtable := table + at(table+4+4)<<16 + at(table+4+6)
	segments := at(subtable+6) / 2
	ends, starts := subtable+14, subtable+16+2*segments
	characters := map[rune]bool{}
	for i := range segments - 1 { // The last one is the end's mark.
		for r := rune(at(starts + 2*i)); r <= rune(at(ends+2*i)); r++ { //nolint:gosec // It has 16 bits.
			characters[r] = true
		}
	}
	return characters
}

// cmapTable returns where a font's table "cmap" begins.
func cmapTable(font string, at func(int) int) int {
	for entry := 12; ; entry += 16 {
		if font[entry:entry+4] == "cmap" {
			return at(entry+8)<<16 + at(entry+10)
		}
	}
}
