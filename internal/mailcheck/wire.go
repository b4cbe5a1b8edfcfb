package mailcheck

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"net/textproto"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Lengths of a line without its CRLF (RFC 5322 section 2.1.1).
const (
	preferredLine = 78
	maxLine       = 998
)

// Wire fails the test with every fault that the final bytes of a message have,
// and returns what the message says. The rules are RFC 5322's and RFC 2045's
// for a message that goes over any relay:
//
//   - lines end in CRLF, and have at most 998 bytes, all of them ASCII without
//     NUL, so that an address which needs SMTPUTF8 is a fault;
//   - header lines, those of parts included, have at most 78 bytes where they
//     could have been folded at a space;
//   - there is one each of From, To, Subject, Date, Message-ID and
//     MIME-Version, and no Bcc;
//   - the zone of the Date is a number;
//   - the Message-ID is in the domain of From.
//
// The message is read by the standard library alone. Package smtptest reads
// with go-message, whose sister packages compose and serve, and both would
// share a misunderstanding. Python's parser would be as independent, but not on
// every machine.
func Wire(t testing.TB, raw []byte) Parsed {
	t.Helper()
	p, err := wire(raw)
	if err != nil {
		t.Fatalf("mailcheck: the message is wrong:\n%v", err)
	}
	return p
}

func wire(raw []byte) (Parsed, error) {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return Parsed{}, errors.Join(checkBytes(raw), err)
	}
	p := Parsed{Header: message.Header}
	err = errors.Join(p.readHeader(), p.readPart(textproto.MIMEHeader(message.Header), message.Body))
	return p, errors.Join(checkBytes(raw), err, checkFolding(raw, p.boundaries), checkHeader(p))
}

// checkBytes returns each kind of fault once, with its first line.
func checkBytes(raw []byte) error {
	faults := map[string]int{}
	number := 0
	for line := range bytes.Lines(raw) {
		number++
		for _, fault := range lineFaults(line) {
			if faults[fault] == 0 {
				faults[fault] = number
			}
		}
	}
	var errs []error
	for fault, line := range faults {
		errs = append(errs, fmt.Errorf("line %d %s", line, fault))
	}
	return errors.Join(errs...)
}

func lineFaults(line []byte) (faults []string) {
	content, ended := bytes.CutSuffix(line, []byte("\r\n"))
	if !ended || bytes.ContainsAny(content, "\r\n") {
		faults = append(faults, "has a bare CR or LF, or no end")
	}
	if len(content) > maxLine {
		faults = append(faults, "has more than 998 bytes")
	}
	if slices.ContainsFunc(content, func(b byte) bool { return b > 127 }) {
		faults = append(faults, "is not ASCII")
	}
	if bytes.IndexByte(content, 0) >= 0 {
		faults = append(faults, "holds a NUL")
	}
	return faults
}

// checkFolding looks at the message's header and at those of its parts, which
// begin after a boundary and end, as every header does, with an empty line.
func checkFolding(raw []byte, boundaries []string) error {
	var errs []error
	inHeader := true
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case slices.Contains(boundaries, strings.TrimPrefix(line, "--")):
			inHeader = true
		case line == "":
			inHeader = false
		case inHeader && len(line) > preferredLine && foldable(line):
			errs = append(errs, fmt.Errorf("a header line of %d bytes could be folded: %.40q", len(line), line))
		}
	}
	return errors.Join(errs...)
}

var fieldName = regexp.MustCompile(`^[!-9;-~]+:`)

// foldable reports whether a header line has a space between two words of its
// value.
func foldable(line string) bool {
	value := line[len(fieldName.FindString(line)):]
	return strings.ContainsAny(strings.Trim(value, " \t"), " \t")
}

var numericZone = regexp.MustCompile(` [+-]\d{4}$`)

// checkHeader looks at what readHeader does not see.
func checkHeader(p Parsed) error {
	var errs []error
	for _, name := range []string{"From", "To", "Subject", "Date", "Message-Id", "Mime-Version"} {
		if n := len(p.Header[name]); n != 1 {
			errs = append(errs, fmt.Errorf("there are %d of %s", n, name))
		}
	}
	for _, name := range []string{"Bcc", "Resent-Bcc"} {
		if len(p.Header[name]) > 0 {
			errs = append(errs, fmt.Errorf("there is a %s", name))
		}
	}
	if version := p.Header.Get("Mime-Version"); version != "1.0" {
		errs = append(errs, fmt.Errorf("the MIME-Version is %q", version))
	}
	if date := p.Header.Get("Date"); !numericZone.MatchString(date) {
		errs = append(errs, fmt.Errorf("the Date %q has no numeric zone", date))
	}
	return errors.Join(append(errs, checkMessageID(p))...)
}

var messageID = regexp.MustCompile(`^<[^\s<>@]+@([^\s<>@]+)>$`)

func checkMessageID(p Parsed) error {
	id := messageID.FindStringSubmatch(p.Header.Get("Message-Id"))
	if id == nil {
		return fmt.Errorf("the Message-ID %q is malformed", p.Header.Get("Message-Id"))
	}
	if p.From == nil {
		return nil // which readHeader has said
	}
	_, domain, _ := strings.Cut(p.From.Address, "@")
	if !strings.EqualFold(domain, id[1]) {
		return fmt.Errorf("the Message-ID is in the domain %s, and From in %s", id[1], domain)
	}
	return nil
}
