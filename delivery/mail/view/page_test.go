package view_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

func TestALookShowsTheBrand(t *testing.T) {
	t.Parallel()
	assert.Equal(t, view.Look{
		Name: "Club Atlético Sur", LogoURL: "https://club.example/logo.png", WebsiteURL: "https://club.example/",
		SupportEmail: "ayuda@club.example",
		Footer:       []string{"Club Atlético Sur, asociación civil", "Avenida Italia 2500, Montevideo"},
		Primary:      "#0f766e", OnPrimary: "#ffffff", Accent: "#b45309", OnAccent: "#ffffff",
		Link: "#b45309", DarkLink: "#9cc3ff",
	}, view.SampleBrand().Look())

	brand := bareBrand()
	brand.Name = " Club\r\n\u202Esur "
	assert.Equal(t, view.Look{
		Name: "Club sur", Primary: view.DefaultPrimaryColor, OnPrimary: "#ffffff", Accent: view.DefaultPrimaryColor, OnAccent: "#ffffff",
		Link: view.DefaultPrimaryColor, DarkLink: "#9cc3ff",
	}, brand.Look())
}

// Buttons and links have the accent, the head the primary colour.
func TestALookHasTextForEachColor(t *testing.T) {
	t.Parallel()
	brand := bareBrand()
	brand.PrimaryColor = "#ffd400"
	look := brand.Look()
	assert.Equal(t, "#000000", look.OnPrimary)
	assert.Equal(t, "#ffd400", look.Accent, "the primary colour is the accent of a brand that has none")
	assert.Equal(t, "#000000", look.OnAccent)
	assert.Equal(t, "#1f2933", look.Link)
	assert.Equal(t, "#ffd400", look.DarkLink)

	brand.AccentColor = "#0f766e"
	look = brand.Look()
	assert.Equal(t, "#000000", look.OnPrimary)
	assert.Equal(t, "#ffffff", look.OnAccent)
	assert.Equal(t, "#0f766e", look.Link)
}
