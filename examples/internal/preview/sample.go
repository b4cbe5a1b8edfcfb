package preview

import (
	_ "embed"
	netmail "net/mail"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
)

//go:embed logo.png
var logo []byte

const logoPath = "logo.png"

// SampleBrands returns two brands that differ as much as brands can: one has
// everything, the other next to nothing. base is the address at which the
// handler is mounted, such as "http://127.0.0.1:8026/", since it is the handler
// that delivers the first one's logo.
func SampleBrands(base string) []Brand {
	full := view.SampleBrand()
	full.LogoURL, full.Logo = strings.TrimSuffix(base, "/")+"/"+logoPath, logo
	bare := view.Brand{
		Name:         "Sociedad Filarmónica y Recreativa de Amigos del Teatro Independiente",
		WebsiteURL:   "https://filarmonica.example/",
		PrimaryColor: "#fff3b0",
		AccentColor:  "#000000",
		From:         netmail.Address{Address: "boleteria@filarmonica.example"},
	}
	return []Brand{
		{Name: "Con todo: logo, contacto y pie", Tenant: notify.Tenant{Brand: full, Language: "es-UY"}},
		{Name: "Con poco: nombre largo, color pálido", Tenant: notify.Tenant{Brand: bare, Language: "es-UY"}},
	}
}
