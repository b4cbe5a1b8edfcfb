package ticketpdf

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// maxText is more characters than any place of a page can hold. What is beyond
// is cut before the work of wrapping it.
const maxText = 2000

const (
	missing  = '□'
	ellipsis = "…"
)

// clean returns text as the fonts can show it. Lines end in "\n".
func clean(text string) string {
	return strings.Map(drawn, norm.NFC.String(cut(text)))
}

func cut(text string) string {
	count := 0
	for i := range text {
		if count == maxText {
			return text[:i] + ellipsis
		}
		count++
	}
	return text
}

// drawn returns the character to draw for another, or -1 for none.
func drawn(r rune) rune {
	switch {
	case unicode.Is(lineBreak, r):
		return '\n'
	case unicode.IsControl(r) && !unicode.IsSpace(r), unicode.In(r, unseen...):
		return -1
	case shown()[r]:
		return r
	case unicode.IsSpace(r):
		return ' '
	case unicode.In(r, emoji, unicode.Mn, unicode.Me): // Marks go the way of their letters.
		return -1
	}
	return missing
}

// lineBreak are the mandatory breaks (UAX 14, classes BK, CR, LF and NL). An
// empty line is not drawn, so CR LF counts once.
var lineBreak = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: '\n', Hi: '\r', Stride: 1}, {Lo: 0x85, Hi: 0x85, Stride: 1}, {Lo: 0x2028, Hi: 0x2029, Stride: 1},
}, LatinOffset: 2}

// unseen are the joiners, direction marks, variation selectors and fillers that
// have no shape of their own (UAX 44, Default_Ignorable_Code_Point).
var unseen = []*unicode.RangeTable{
	unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point,
}

// emoji are the blocks that hold emoji (UTS 51), with their neighbours, which
// are ornaments as well.
var emoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x20e3, Hi: 0x20e3, Stride: 1}, {Lo: 0x2194, Hi: 0x21aa, Stride: 1}, {Lo: 0x2300, Hi: 0x23ff, Stride: 1},
		{Lo: 0x24c2, Hi: 0x24c2, Stride: 1}, {Lo: 0x25aa, Hi: 0x25ab, Stride: 1}, {Lo: 0x25b6, Hi: 0x25b6, Stride: 1},
		{Lo: 0x25c0, Hi: 0x25c0, Stride: 1}, {Lo: 0x25fb, Hi: 0x25fe, Stride: 1}, {Lo: 0x2600, Hi: 0x27bf, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1}, {Lo: 0x2b00, Hi: 0x2bff, Stride: 1}, {Lo: 0x3030, Hi: 0x3030, Stride: 1},
		{Lo: 0x303d, Hi: 0x303d, Stride: 1}, {Lo: 0x3297, Hi: 0x3297, Stride: 1}, {Lo: 0x3299, Hi: 0x3299, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x1f000, Hi: 0x1faff, Stride: 1}},
}
