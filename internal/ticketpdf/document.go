package ticketpdf

import (
	"errors"
	"fmt"
	"regexp"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Document is what to draw.
type Document struct {
	// Title is shown by viewers as the document's. May be empty.
	Title string
	// Language is that of the texts, a BCP 47 tag such as "es-CR", for screen
	// readers. Empty means that the file does not say.
	Language string
	Brand    Brand
	// Created is the creation date in the file. Zero means none.
	Created time.Time
	// Pages are 1 to [MaxPages].
	Pages []Page
}

// A Brand is the look of all pages.
type Brand struct {
	// Name stands in the band where there is no logo.
	Name string
	// Color is that of the band, and OnColor that of text on it: "#rrggbb".
	// Required.
	Color, OnColor string
	// Logo is a PNG or JPEG file of at most [MaxLogo] bytes and [MaxLogoSide]
	// pixels a side, shown on white. nil means that the name stands there.
	Logo []byte
	// Footer stands at the foot of each page, at most ten lines of it.
	Footer []string
}

// A Page is one ticket. Any text but the code may be empty.
type Page struct {
	// Heading is the name of the event.
	Heading string
	// Lines stand right under the heading: date with zone, place, address.
	Lines []string
	// Fields are shown in their order, the first [MaxFields] of them. One
	// without a value is left out.
	Fields []Field
	// Code is what the QR code holds, and what is printed beneath it: 1 to
	// [MaxCode] bytes of printable UTF-8. Required.
	Code string
	// Note is small: "Entrada 2 de 3".
	Note string
}

// A Field is a value with its label: the seat, the holder, the price.
type Field struct{ Label, Value string }

// Limits of a [Document].
const (
	MaxPages    = 500
	MaxFields   = 40      // of a page
	MaxCode     = 300     // bytes; the QR code then has 69 modules a side
	MaxLogo     = 2 << 20 // bytes
	MaxLogoSide = 4000    // pixels
)

// languagePattern is looser than BCP 47, and lets nothing pass that would need
// to be escaped.
var languagePattern = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,8}$`)

// check returns all that is wrong with the document but for its logo, naming
// the fields, or nil.
func (d Document) check() error {
	faults := []error{
		checkColor("Brand.Color", d.Brand.Color),
		checkColor("Brand.OnColor", d.Brand.OnColor),
		d.checkCount(),
	}
	if d.Language != "" && !languagePattern.MatchString(d.Language) {
		faults = append(faults, fmt.Errorf("Language %.40q is no BCP 47 tag", d.Language))
	}
	if year := d.Created.UTC().Year(); year < 1 || year > 9999 {
		faults = append(faults, fmt.Errorf("Created is in the year %d; a PDF holds 1 to 9999", year))
	}
	return errors.Join(faults...)
}

func (d Document) checkCount() error {
	switch count := len(d.Pages); {
	case count == 0:
		return errors.New("Pages is empty")
	case count > MaxPages:
		return fmt.Errorf("Pages has %d; at most %d are allowed", count, MaxPages)
	}
	for i, page := range d.Pages {
		if err := CheckCode(page.Code); err != nil {
			return fmt.Errorf("Pages[%d].Code %w", i, err)
		}
	}
	return nil
}

// CheckCode refuses what a page cannot show as its code.
func CheckCode(code string) error {
	switch {
	case code == "":
		return errors.New("is empty")
	case len(code) > MaxCode:
		return fmt.Errorf("has %d bytes; at most %d are allowed", len(code), MaxCode)
	case !utf8.ValidString(code):
		return errors.New("is not UTF-8")
	}
	for _, r := range code {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("holds %U, which cannot be printed", r)
		}
	}
	return nil
}
