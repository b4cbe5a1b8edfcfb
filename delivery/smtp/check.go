package smtp

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/buzon-go/buzon/delivery/mail"
)

// checkMessage returns all that keeps m from being composed, addresses apart.
func checkMessage(m *mail.Message) error {
	var faults []error
	fault := func(what string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", what, err))
		}
	}
	fault("subject", checkLine(m.Subject))
	fault("text", checkText(m.Text))
	if strings.TrimSpace(m.Text) == "" {
		fault("text", errors.New("is empty"))
	}
	fault("HTML", checkText(m.HTML))
	for i, attachment := range m.Attachments {
		fault(fmt.Sprintf("attachment %d", i+1), checkAttachment(attachment))
	}
	for i, header := range m.Headers {
		fault(fmt.Sprintf("header %d", i+1), checkHeader(header))
	}
	return errors.Join(faults...)
}

// checkLine refuses what cannot stand in a header: a line end there adds
// headers of somebody else's making.
func checkLine(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("is not valid UTF-8")
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		return errors.New("holds a control character")
	}
	return nil
}

func checkText(text string) error {
	if !utf8.ValidString(text) {
		return errors.New("is not valid UTF-8")
	}
	if strings.ContainsRune(text, 0) {
		return errors.New("holds a NUL")
	}
	return nil
}

// reserved are the header fields that Compose writes, that others add on the
// way, or that would show recipients to each other. A final "-" stands for a
// whole family.
var reserved = []string{
	"from", "sender", "reply-to", "to", "cc", "bcc", "date", "message-id", "subject",
	"mime-", "content-", "resent-", "received", "return-path", "dkim-signature",
}

func checkHeader(h mail.Header) error {
	if h.Name == "" || strings.ContainsFunc(h.Name, func(r rune) bool { return r <= ' ' || r > '~' || r == ':' }) {
		return errors.New("name: must be printable ASCII without colon (RFC 5322 section 3.6.8)")
	}
	name := strings.ToLower(h.Name)
	for _, taken := range reserved {
		if name == taken || strings.HasSuffix(taken, "-") && strings.HasPrefix(name, taken) {
			return fmt.Errorf("%s: is not for a message's further headers", h.Name)
		}
	}
	if err := checkLine(h.Value); err != nil {
		return fmt.Errorf("%s: %w", h.Name, err)
	}
	if strings.TrimSpace(h.Value) == "" {
		return fmt.Errorf("%s: is empty", h.Name)
	}
	if strings.HasPrefix(name, "list-") && !isASCII(h.Value) {
		// RFC 2369: URLs, which encoded-words would break.
		return fmt.Errorf("%s: holds characters that a URL cannot have", h.Name)
	}
	return nil
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf })
}
