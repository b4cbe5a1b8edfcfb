package ticketpdf

import (
	"strings"
	"unicode/utf8"
)

// A measure returns how wide a text is, in mm.
type measure func(text string) float64

// wrap breaks clean text into lines that are no wider than width, at most so
// many. A line that stands for more ends in "…". Empty lines are left out.
func wrap(text string, width float64, most int, wide measure) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapParagraph(paragraph, width, wide)...)
	}
	if len(lines) <= most {
		return lines
	}
	lines = lines[:most]
	lines[most-1] = shorten(lines[most-1], width, wide)
	return lines
}

// wrapParagraph breaks at spaces, and inside of words that are wider than a
// line.
func wrapParagraph(text string, width float64, wide measure) []string {
	var lines []string
	line := ""
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' }) {
		if line != "" && wide(line+" "+word) <= width {
			line += " " + word
			continue
		}
		if line != "" {
			lines = append(lines, line)
		}
		pieces := chop(word, width, wide)
		lines = append(lines, pieces[:len(pieces)-1]...)
		line = pieces[len(pieces)-1]
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// chop breaks text anywhere into pieces that are no wider than width, one
// character each at least.
func chop(text string, width float64, wide measure) []string {
	var pieces []string
	start, used := 0, 0.0
	for i, r := range text {
		w := wide(string(r))
		if used+w > width && i > start {
			pieces = append(pieces, text[start:i])
			start, used = i, 0
		}
		used += w
	}
	return append(pieces, text[start:])
}

// shorten ends a line in "…", in place of its last characters where there is no
// room.
func shorten(line string, width float64, wide measure) string {
	for line != "" && wide(line+ellipsis) > width {
		_, size := utf8.DecodeLastRuneInString(line)
		line = line[:len(line)-size]
	}
	return strings.TrimRight(line, " ") + ellipsis
}
