package notify

import (
	"cmp"
	"errors"
	"fmt"
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
	// WebsiteURL is where readers go from the e-mail, http or https. Empty
	// means nowhere.
	WebsiteURL string
	// PrimaryColor is "#rrggbb". Text on it is black or white, whichever can
	// be read. Empty means [DefaultPrimaryColor].
	PrimaryColor string
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
		checkBrandName(b.Name),
		checkURL("LogoURL", b.LogoURL),
		checkURL("WebsiteURL", b.WebsiteURL),
		checkColor("PrimaryColor", b.PrimaryColor),
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

func checkBrandName(name string) error {
	if oneLine(name, maxName) == "" {
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

// maxURL is what mail programs and proxies are sure to take.
const maxURL = 2000

func checkURL(field, text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	switch {
	case len(text) > maxURL:
		return fmt.Errorf("%s has %d bytes; at most %d are allowed", field, len(text), maxURL)
	case err != nil, u.Hostname() == "", u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%s %.100q is no http or https URL", field, text)
	case u.User != nil:
		return fmt.Errorf("%s holds a user name", field)
	case strings.ContainsFunc(text, unicode.IsSpace):
		return fmt.Errorf("%s %.100q holds white space", field, text)
	}
	return nil
}

// from returns the header From.
func (b Brand) from() netmail.Address {
	return netmail.Address{Name: cmp.Or(oneLine(b.From.Name, maxName), oneLine(b.Name, maxName)), Address: b.From.Address}
}

// replyTo returns the header Reply-To, or nil for none.
func (b Brand) replyTo() *netmail.Address {
	if b.ReplyTo.Address == "" {
		return nil
	}
	return &netmail.Address{Name: oneLine(b.ReplyTo.Name, maxName), Address: b.ReplyTo.Address}
}

// account returns the identity of account e-mails: the WebsiteType's, or the
// tenant's own where there is none.
func (t Tenant) account() (whose string, brand Brand) {
	if t.WebsiteType == nil {
		return "Brand", t.Brand
	}
	brand = t.WebsiteType.Brand
	if brand.From.Address == "" {
		brand.From.Address, brand.ReplyTo = t.Brand.From.Address, t.Brand.ReplyTo
	}
	return "WebsiteType.Brand", brand
}
