package view

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

const (
	white = "#ffffff"
	black = "#000000"
	ink   = "#1f2933" // of text on white

	darkCard = "#1e2227" // the layout's, in dark mode
	darkLink = "#9cc3ff" // of links on it
)

var colorPattern = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

func checkColor(field, color string) error {
	if color != "" && !colorPattern.MatchString(color) {
		return fmt.Errorf("%s is %.20q; want #rrggbb", field, color)
	}
	return nil
}

// minContrast is that of text in any size (WCAG 2.2, success criterion 1.4.3).
const minContrast = 4.5

// textOn returns the colour of text on a background. Where white does not
// reach the contrast, black always does.
func textOn(background string) string {
	if contrast(white, background) >= minContrast {
		return white
	}
	return black
}

// linkOnWhite returns the colour of links: the brand's, unless it is too pale.
func linkOnWhite(color string) string {
	if contrast(color, white) >= minContrast {
		return color
	}
	return ink
}

// linkOnDark returns the colour of links in dark mode.
func linkOnDark(color string) string {
	if contrast(color, darkCard) >= minContrast {
		return color
	}
	return darkLink
}

// contrast returns the contrast ratio of two colours, 1 to 21 (WCAG 2.2).
func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance returns the relative luminance of "#rrggbb" (WCAG 2.2).
func luminance(color string) float64 {
	rgb, _ := strconv.ParseUint(color[1:], 16, 32) // It was checked.
	return 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8) + 0.0722*linear(rgb)
}

// linear returns a channel of sRGB, the lowest byte, as light.
func linear(channel uint64) float64 {
	c := float64(channel&0xff) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}
