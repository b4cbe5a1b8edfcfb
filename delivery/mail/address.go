package mail

import (
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// ErrNoAddress is returned by [ParseAddress] for an empty address.
var ErrNoAddress = errors.New("the e-mail address is empty")

// Limits of RFC 5321 section 4.5.3.1, in octets.
const (
	maxLocalPart = 64
	maxDomain    = 255
)

// ParseAddress reads an e-mail address, with or without a display name, and
// accepts what can safely stand in an SMTP envelope: a dot-atom local part
// (RFC 5322 section 3.4.1; letters of any script, RFC 6531) and a domain name
// of at least one label. Quoted local parts, address literals, comments,
// control characters and white space inside are refused, since they misroute
// mail or smuggle SMTP parameters. The error does not repeat the address.
func ParseAddress(text string) (netmail.Address, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return netmail.Address{}, ErrNoAddress
	}
	parsed, err := netmail.ParseAddress(text)
	if err != nil {
		return netmail.Address{}, errors.New("the e-mail address cannot be parsed")
	}
	if err := CheckAddress(parsed.Address); err != nil {
		return netmail.Address{}, err
	}
	if strings.ContainsFunc(parsed.Name, unicode.IsControl) {
		return netmail.Address{}, errors.New("the display name holds a control character")
	}
	return *parsed, nil
}

// CheckAddress refuses an addr-spec that [ParseAddress] would not return.
func CheckAddress(addrSpec string) error {
	if !utf8.ValidString(addrSpec) {
		return errors.New("the e-mail address is not valid UTF-8")
	}
	at := strings.LastIndexByte(addrSpec, '@')
	if at < 0 {
		return errors.New("the e-mail address has no @")
	}
	if err := checkLocalPart(addrSpec[:at]); err != nil {
		return err
	}
	return checkDomain(addrSpec[at+1:])
}

func checkLocalPart(local string) error {
	if local == "" || len(local) > maxLocalPart {
		return fmt.Errorf("the e-mail address's local part must have 1 to %d bytes", maxLocalPart)
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" {
			return errors.New("the e-mail address's local part has a dot at its edge or two in a row")
		}
		if strings.ContainsFunc(atom, notAtomText) {
			return errors.New("the e-mail address's local part holds a character that is not allowed")
		}
	}
	return nil
}

// notAtomText reports what is not atext (RFC 5322 section 3.2.3, RFC 6531
// section 3.3).
func notAtomText(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	case r < utf8.RuneSelf:
		return !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", r)
	}
	return !unicode.IsGraphic(r) || unicode.IsSpace(r)
}

func checkDomain(domain string) error {
	ascii, err := ASCIIDomain(domain)
	if err != nil {
		return err
	}
	if ascii == "" || len(ascii) > maxDomain {
		return fmt.Errorf("the e-mail address's domain must have 1 to %d bytes", maxDomain)
	}
	for label := range strings.SplitSeq(ascii, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return errors.New("the e-mail address's domain has a label that is empty, too long, or starts or ends with a hyphen")
		}
		if strings.ContainsFunc(label, notDomainText) {
			return errors.New("the e-mail address's domain holds a character that is not allowed")
		}
	}
	return nil
}

// notDomainText reports what stands in no host name: letters, digits and
// hyphens, and the underscore that some use.
func notDomainText(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
		return false
	}
	return true
}

// ASCIIDomain returns the form of a domain that every server understands
// (RFC 5891): a domain in another script becomes its "xn--" form. The error does
// not repeat the domain.
func ASCIIDomain(domain string) (string, error) {
	for i := range len(domain) {
		if domain[i] >= utf8.RuneSelf {
			ascii, err := idna.Lookup.ToASCII(domain)
			if err != nil {
				return "", errors.New("the e-mail address's domain is no international domain name")
			}
			return ascii, nil
		}
	}
	return domain, nil
}
