package view

import (
	"strings"
	"unicode"
)

// Limits of texts that come from a host, in characters: names of hundreds break
// layouts, and header lines.
const (
	MaxName = 80
	maxLine = 5000 // of a footer
)

// OneLine makes a host's text fit for a header and a sentence: one line of at
// most limit characters, without control characters, and without the invisible
// ones that turn the direction of what follows. A text that shows nothing is
// empty.
func OneLine(text string, limit int) string {
	line := strings.Join(strings.Fields(visible(text)), " ")
	if !strings.ContainsFunc(line, unicode.IsGraphic) {
		return ""
	}
	return shorten(line, limit)
}

// visible replaces control characters by spaces, and removes what has an effect
// and no shape.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case isDirectionMark(r), r == '\uFEFF', r == '\u200B':
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// isDirectionMark reports the characters that steer bidirectional text (Unicode
// Standard Annex 9, section 2).
func isDirectionMark(r rune) bool {
	return r == '\u061C' || r == '\u200E' || r == '\u200F' || r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069'
}

func shorten(text string, limit int) string {
	runes := []rune(text)
	if len(runes) <= limit {
		return text
	}
	// A joiner or a mark at the end would tie the ellipsis to what precedes it.
	kept := strings.TrimRightFunc(string(runes[:limit-1]), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsMark(r) || r == '\u200D'
	})
	return kept + "…"
}

// Lines splits a host's text of several lines, without the empty ones, each as
// [OneLine] leaves it.
func Lines(text string) []string {
	var all []string
	for line := range strings.Lines(text) {
		if line = OneLine(line, maxLine); line != "" {
			all = append(all, line)
		}
	}
	return all
}
