package view

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestContrast(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 21, contrast(white, black), 0.001)
	assert.InDelta(t, 1, contrast("#777777", "#777777"), 0.001)
	assert.InDelta(t, 4.48, contrast("#777777", white), 0.01) // the well-known grey that just fails
	assert.InDelta(t, 8.59, contrast("#0000FF", white), 0.01)
}

// Text on a brand's colour, and links in it, can be read whatever the colour.
func TestTextCanBeReadOnEveryColor(t *testing.T) {
	t.Parallel()
	for r := 0; r < 256; r += 15 {
		for g := 0; g < 256; g += 15 {
			for b := 0; b < 256; b += 15 {
				color := fmt.Sprintf("#%02x%02X%02x", r, g, b)
				assert.NoError(t, checkColor("PrimaryColor", color))
				assert.GreaterOrEqual(t, contrast(textOn(color), color), minContrast, color)
				assert.GreaterOrEqual(t, contrast(linkOnWhite(color), white), minContrast, color)
				assert.GreaterOrEqual(t, contrast(linkOnDark(color), darkCard), minContrast, color)
			}
		}
	}
	assert.Equal(t, white, textOn(DefaultPrimaryColor))
	assert.Equal(t, black, textOn("#ffd400"))
	assert.Equal(t, "#0f766e", linkOnWhite("#0f766e"))
	assert.Equal(t, ink, linkOnWhite("#ffd400"))
	assert.Equal(t, "#ffd400", linkOnDark("#ffd400"))
	assert.Equal(t, darkLink, linkOnDark("#0f766e"))
}
