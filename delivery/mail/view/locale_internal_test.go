package view

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Were the CLDR to say one day that readers of Portuguese get along with
// Spanish, their e-mail would not be in Spanish with Portuguese dates.
func TestAReadersRegionCountsOnlyInTheSameLanguage(t *testing.T) {
	t.Parallel()
	assert.Equal(t, Locale{}, Locale{}.inRegionOf([]string{"pt-BR"}))
	assert.Equal(t, Locale{tag: "es-BR"}, Locale{}.inRegionOf([]string{"es-BR"}))
}
