package mail

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Key joins the parts of a business key with colons, as in
// "welcome:acme:42". A part that is empty, or holds a colon, white space, a
// control character or invalid UTF-8, is refused, so that two e-mails never
// share a key.
func Key(parts ...string) (string, error) {
	if len(parts) == 0 {
		return "", fmt.Errorf("mail: key: no parts")
	}
	for i, part := range parts {
		if err := CheckKeyPart(part); err != nil {
			return "", fmt.Errorf("mail: key: part %d of %q: %w", i+1, parts, err)
		}
	}
	return strings.Join(parts, ":"), nil
}

// CheckKeyPart refuses what cannot be a part of a [Key], such as an id.
func CheckKeyPart(part string) error {
	switch {
	case part == "":
		return fmt.Errorf("is empty")
	case len(part) > maxKeyPart:
		return fmt.Errorf("has %d bytes; at most %d are allowed", len(part), maxKeyPart)
	case !utf8.ValidString(part):
		return fmt.Errorf("is not valid UTF-8")
	}
	for _, r := range part {
		if r == ':' || unicode.IsSpace(r) || unicode.IsControl(r) {
			return fmt.Errorf("holds %q; colons, white space and control characters are not allowed", r)
		}
	}
	return nil
}

// maxKeyPart keeps keys within what a B-tree index entry can hold.
const maxKeyPart = 255

// MessageID derives the Message-ID of an e-mail from its tenant and key, without
// angle brackets: the same for the same key, whatever the attempt, and nothing
// to be read from it. Its right side is the domain of the sender's address, as
// receivers expect.
func MessageID(tenant, key, from string) (string, error) {
	if err := CheckAddress(from); err != nil {
		return "", err
	}
	domain, err := ASCIIDomain(from[strings.LastIndexByte(from, '@')+1:])
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(tenant + "\x00" + key))
	id := base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:20])
	return strings.ToLower(id) + "@" + domain, nil
}
