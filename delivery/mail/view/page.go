package view

import "cmp"

// A Page is what a view's templates see as ".": {{.Brand.Name}},
// {{.Recipient}}, {{.Data.Code}}, {{.Moment .Data.ExpiresAt}}. Within range and
// with, methods are reached by "$": {{$.Money .Amount}}.
type Page[D any] struct {
	// Locale writes dates and amounts as the reader does: {{.Date t}},
	// {{.Time t}}, {{.Moment t}}, {{.Zone t}}, {{.Money m}}, {{.Number n}}; and
	// tells the language: {{.Tag}}, {{.Dir}}.
	Locale
	// Brand is in whose identity the e-mail is.
	Brand Look
	// Recipient is how to address the reader; empty for without a name.
	Recipient string
	// Data is the view's own.
	Data D
}

// A Look is a [Brand] as templates show it: every field can be shown as it is,
// and is empty where the brand has none.
type Look struct {
	Name         string
	LogoURL      string
	WebsiteURL   string
	SupportEmail string
	Footer       []string // its lines

	// Colours, "#rrggbb". On… is that of text on the colour before it.
	Primary, OnPrimary string // of the head
	Accent, OnAccent   string // of buttons
	Link, DarkLink     string // of links on white, and on the dark card
}

// Look returns how templates show the brand.
func (b Brand) Look() Look {
	primary := cmp.Or(b.PrimaryColor, DefaultPrimaryColor)
	accent := cmp.Or(b.AccentColor, primary)
	return Look{
		Name:         OneLine(b.Name, MaxName),
		LogoURL:      b.LogoURL,
		WebsiteURL:   b.WebsiteURL,
		SupportEmail: b.SupportEmail,
		Footer:       Lines(b.Footer),
		Primary:      primary,
		OnPrimary:    textOn(primary),
		Accent:       accent,
		OnAccent:     textOn(accent),
		Link:         linkOnWhite(accent),
		DarkLink:     linkOnDark(accent),
	}
}
