package view

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // formats of logos
	_ "image/png"
	netmail "net/mail"
	"net/url"
	"strings"
	"unicode"

	"github.com/buzon-go/buzon/delivery/mail"
)

// DefaultPrimaryColor is the colour of a [Brand] that names none.
const DefaultPrimaryColor = "#1d4ed8"

// A Brand is a visual identity, and the addresses that go with it. Its texts
// are plain text, never HTML.
type Brand struct {
	// Name is what readers know the sender as. Required.
	Name string
	// LogoURL is an image of the logo, http or https; it is shown at a height
	// of up to 48 pixels, on white. Empty means that the name stands there.
	LogoURL string
	// Logo is the same image as a PNG or JPEG file, for documents that are
	// attached, since they fetch nothing. nil means that the name stands there.
	Logo []byte
	// WebsiteURL is where readers go from the e-mail, http or https. Empty
	// means nowhere.
	WebsiteURL string
	// PrimaryColor, "#rrggbb", is the head's. Text on it is black or white,
	// whichever can be read. Empty means [DefaultPrimaryColor].
	PrimaryColor string
	// AccentColor, "#rrggbb", is that of buttons and links; as a link it is
	// darkened to black where it could not be read. Empty means PrimaryColor.
	AccentColor string
	// From is the sender. The address is required; an empty name means Name.
	From netmail.Address
	// ReplyTo is where answers go. A zero address means From.
	ReplyTo netmail.Address
	// SupportEmail is where readers find help. Empty means nowhere.
	SupportEmail string
	// Footer is the legal text at the end, which may have several lines. May
	// be empty.
	Footer string
}

// Validate returns all that is wrong with the brand, naming the fields, or nil.
// The error repeats no address.
func (b Brand) Validate() error {
	return errors.Join(
		checkName(b.Name),
		CheckURL("LogoURL", b.LogoURL),
		checkLogo(b.Logo),
		CheckURL("WebsiteURL", b.WebsiteURL),
		checkColor("PrimaryColor", b.PrimaryColor),
		checkColor("AccentColor", b.AccentColor),
		checkAddress("From", b.From.Address),
		optional(b.ReplyTo.Address, func() error { return checkAddress("ReplyTo", b.ReplyTo.Address) }),
		optional(b.SupportEmail, func() error { return checkAddress("SupportEmail", b.SupportEmail) }),
	)
}

func optional(value string, check func() error) error {
	if value == "" {
		return nil
	}
	return check()
}

func checkName(name string) error {
	if OneLine(name, MaxName) == "" {
		return errors.New("Name is empty")
	}
	return nil
}

func checkAddress(field, address string) error {
	if address == "" {
		return fmt.Errorf("%s: %w", field, mail.ErrNoAddress)
	}
	if err := mail.CheckAddress(address); err != nil {
		return fmt.Errorf("%s: %w", field, err)
	}
	return nil
}

// Limits of a logo: it belongs in every attachment.
const (
	maxLogo     = 1 << 20 // bytes
	maxLogoSide = 4000    // pixels
)

// ending is what a file that is whole holds: to decode it for every e-mail would
// cost too much.
var ending = map[string][]byte{"png": []byte("IEND"), "jpeg": {0xff, 0xd9}}

func checkLogo(file []byte) error {
	if len(file) == 0 {
		return nil
	}
	if len(file) > maxLogo {
		return fmt.Errorf("Logo has %d bytes; at most %d are allowed", len(file), maxLogo)
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(file))
	switch {
	case err != nil, format != "png" && format != "jpeg":
		return errors.New("Logo is neither a PNG nor a JPEG file")
	case !bytes.Contains(file, ending[format]):
		return errors.New("Logo is cut off")
	case config.Width > maxLogoSide || config.Height > maxLogoSide:
		return fmt.Errorf("Logo has %d by %d pixels; at most %d a side are allowed", config.Width, config.Height, maxLogoSide)
	}
	return nil
}

// maxURL is what mail programs and proxies are sure to take.
const maxURL = 2000

// CheckURL refuses a link that an e-mail could not hold, naming the field: one
// that is not absolute, is neither http nor https, names a user, holds white
// space, or is longer than 2,000 bytes. An empty one passes.
func CheckURL(field, text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return fmt.Errorf("%s has %d bytes; at most %d are allowed", field, len(text), maxURL)
	case err != nil, u.Hostname() == "", u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s %.100q is no http or https URL", field, withoutSecrets(text))
	case u.User != nil:
		return fmt.Errorf("%s holds a user name", field)
	case strings.ContainsFunc(text, unicode.IsSpace):
		return fmt.Errorf("%s %.100q holds white space", field, withoutSecrets(text))
	}
	return nil
}

// withoutSecrets cuts a link where a password, an address or a token may come.
func withoutSecrets(link string) string {
	if strings.Contains(link, "@") {
		return "…"
	}
	if i := strings.IndexAny(link, "?#"); i >= 0 {
		return link[:i] + "…"
	}
	return link
}

// Sender returns the header From.
func (b Brand) Sender() netmail.Address {
	return netmail.Address{Name: cmp.Or(OneLine(b.From.Name, MaxName), OneLine(b.Name, MaxName)), Address: b.From.Address}
}

// Answers returns the header Reply-To, or nil for none.
func (b Brand) Answers() *netmail.Address {
	if b.ReplyTo.Address == "" {
		return nil
	}
	return &netmail.Address{Name: OneLine(b.ReplyTo.Name, MaxName), Address: b.ReplyTo.Address}
}
