package view

import netmail "net/mail"

// SampleBrand returns a brand that has everything a brand can have, for
// previews and tests. Nothing is sent to its addresses: they are of a domain
// that is kept for examples (RFC 2606).
func SampleBrand() Brand {
	return Brand{
		Name:         "Club Atlético Sur",
		LogoURL:      "https://club.example/logo.png",
		WebsiteURL:   "https://club.example/",
		PrimaryColor: "#0f766e",
		AccentColor:  "#b45309",
		From:         netmail.Address{Address: "hola@club.example"},
		ReplyTo:      netmail.Address{Address: "respuestas@club.example"},
		SupportEmail: "ayuda@club.example",
		Footer:       "Club Atlético Sur, asociación civil\nAvenida Italia 2500, Montevideo",
	}
}
