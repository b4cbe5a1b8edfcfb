package notify

import (
	"cmp"
	netmail "net/mail"
)

// identity is a brand as the views' layout shows it.
type identity struct {
	Brand        string
	LogoURL      string // empty for none, as the other URLs and addresses
	WebsiteURL   string
	SupportEmail string
	Footer       []string // its lines

	Primary   string // colours, "#rrggbb"
	OnPrimary string
	Link      string
}

func identityOf(brand Brand) identity {
	primary := cmp.Or(brand.PrimaryColor, DefaultPrimaryColor)
	return identity{
		Brand:        oneLine(brand.Name, maxName),
		LogoURL:      brand.LogoURL,
		WebsiteURL:   brand.WebsiteURL,
		SupportEmail: brand.SupportEmail,
		Footer:       lines(brand.Footer),
		Primary:      primary,
		OnPrimary:    textOn(primary),
		Link:         linkOnWhite(primary),
	}
}

// sampleBrand has everything that a brand can have.
func sampleBrand() Brand {
	return Brand{
		Name:         "Club",
		LogoURL:      "https://club.example/logo.png",
		WebsiteURL:   "https://club.example/",
		PrimaryColor: "#0f766e",
		From:         netmail.Address{Address: "hola@club.example"},
		SupportEmail: "ayuda@club.example",
		Footer:       "Club\nCalle 1",
	}
}
