package ticketpdf

import (
	"fmt"
	"regexp"
	"strconv"
)

// A color has its channels as 0 to 255.
type color struct{ r, g, b int }

var (
	white = color{255, 255, 255}
	ink   = color{31, 41, 51}
	faint = color{91, 100, 112}  // of labels and the footer
	rule  = color{208, 213, 219} // of lines and frames
)

var colorPattern = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

func checkColor(field, text string) error {
	if !colorPattern.MatchString(text) {
		return fmt.Errorf("%s is %.20q; want #rrggbb", field, text)
	}
	return nil
}

// parseColor returns the colour of a "#rrggbb" that was checked.
func parseColor(text string) color {
	rgb, _ := strconv.ParseUint(text[1:], 16, 32)
	return color{int(rgb >> 16 & 0xff), int(rgb >> 8 & 0xff), int(rgb & 0xff)}
}
