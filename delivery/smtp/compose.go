package smtp

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/quotedprintable"
	"slices"
	"strings"
	"time"

	"github.com/emersion/go-message/textproto"

	"github.com/buzon-go/buzon/delivery/mail"
)

// Compose returns m as it is transmitted, header and body, dots not yet
// stuffed: CRLF at the end of every line and nowhere else, no line of more than
// 998 bytes, and nothing but ASCII, apart from an address that needs SMTPUTF8.
// A message with a MessageID and a Date composes to the same bytes each time.
//
// What cannot be composed faithfully is refused, by a *mail.SendError of phase
// compose: a control character or invalid UTF-8 where a header would carry it,
// a header that Compose writes itself, a message without a text.
func Compose(m *mail.Message) ([]byte, error) {
	p, err := resolve(m)
	if err != nil {
		return nil, err
	}
	return compose(m, p)
}

func compose(m *mail.Message, p people) ([]byte, error) {
	if err := checkMessage(m); err != nil {
		return nil, refuse(mail.ReachMessage, "message", err)
	}
	id, err := messageID(m, p)
	if err != nil {
		return nil, refuse(mail.ReachMessage, "MessageID", err)
	}
	content := contentOf(m, id)
	var message bytes.Buffer
	message.Grow(estimate(m))
	if err := writeHeader(&message, m, p, id, content); err != nil {
		return nil, refuse(mail.ReachMessage, "header", err)
	}
	if err := content.write(&message); err != nil {
		return nil, refuse(mail.ReachMessage, "body", err)
	}
	if err := checkLines(message.Bytes()); err != nil {
		return nil, refuse(mail.ReachMessage, "composed message", err)
	}
	return message.Bytes(), nil
}

// estimate returns about how many bytes m composes to, so that a large
// attachment is not copied again and again while the buffer grows.
func estimate(m *mail.Message) int {
	size := 4096 + len(m.Text) + len(m.HTML)
	for _, attachment := range m.Attachments {
		size += 1024 + len(attachment.Content)/57*78
	}
	return size
}

// refuse is the failure of what cannot be composed.
func refuse(reach mail.Reach, what string, err error) error {
	return &mail.SendError{
		Phase:     mail.PhaseCompose,
		Reach:     reach,
		Certainty: mail.NotAccepted,
		Err:       fmt.Errorf("%s: %w", what, err),
	}
}

// messageID returns the Message-ID without angle brackets: the message's own,
// or a random one in the domain of From.
func messageID(m *mail.Message, p people) (string, error) {
	if m.MessageID == "" {
		domain := p.from.Address[strings.LastIndexByte(p.from.Address, '@')+1:]
		return strings.ToLower(rand.Text()) + "@" + domain, nil
	}
	left, domain, found := strings.Cut(m.MessageID, "@")
	domain, err := mail.ASCIIDomain(domain)
	if err != nil {
		return "", err
	}
	if !found || left == "" || domain == "" || strings.ContainsFunc(left+domain, notMessageID) {
		return "", errors.New("is no Message-ID (RFC 5322 section 3.6.4); it goes without angle brackets")
	}
	return left + "@" + domain, nil
}

// notMessageID reports what stands in neither side of a Message-ID.
func notMessageID(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~.", r)
}

// dateLayout is RFC 5322 section 3.3, with the numeric zone that it demands.
const dateLayout = "Mon, 02 Jan 2006 15:04:05 -0700"

// writeHeader writes the header of the whole message, and the empty line.
func writeHeader(w io.Writer, m *mail.Message, p people, id string, content entity) error {
	date := m.Date
	if date.IsZero() {
		date = time.Now()
	}
	fields := []field{
		{"Date", date.Format(dateLayout)},
		{"From", p.from.String()},
		{"To", p.to.String()},
	}
	if p.replyTo != nil {
		fields = append(fields, field{"Reply-To", p.replyTo.String()})
	}
	fields = append(fields, field{"Subject", encodeText(m.Subject)}, field{"Message-ID", "<" + id + ">"})
	fields = append(fields, furtherFields(m)...)
	fields = append(fields, field{"MIME-Version", "1.0"})
	return writeFields(w, append(fields, content.fields...))
}

// furtherFields returns the host's header fields. Without one of its own, a
// message says that no person wrote it (RFC 3834 section 5), so that nobody's
// vacation responder answers.
func furtherFields(m *mail.Message) []field {
	var fields []field
	automatic := false
	for _, header := range m.Headers {
		fields = append(fields, field{header.Name, encodeText(header.Value)})
		automatic = automatic || strings.EqualFold(header.Name, "Auto-Submitted")
	}
	if !automatic {
		fields = append(fields, field{"Auto-Submitted", "auto-generated"})
	}
	return fields
}

// An entity is a MIME entity: the header fields that describe its content, and
// the content.
type entity struct {
	fields []field
	write  func(io.Writer) error
}

// contentOf returns the content of m: its text, as an alternative to its HTML
// where it has one, and together with its attachments where it has any.
func contentOf(m *mail.Message, id string) entity {
	content := textEntity("text/plain", m.Text)
	if m.HTML != "" {
		content = multipart("alternative", id, content, textEntity("text/html", m.HTML))
	}
	if len(m.Attachments) > 0 {
		parts := []entity{content}
		for _, attachment := range m.Attachments {
			parts = append(parts, attachmentEntity(attachment))
		}
		content = multipart("mixed", id, parts...)
	}
	return content
}

// textEntity is always quoted-printable: lines of any length and any script
// arrive unchanged.
func textEntity(mediaType, text string) entity {
	return entity{
		fields: []field{
			{"Content-Type", mediaType + "; charset=utf-8"},
			{"Content-Transfer-Encoding", "quoted-printable"},
		},
		write: func(w io.Writer) error {
			encoder := quotedprintable.NewWriter(w)
			if _, err := io.WriteString(encoder, crlf(text)); err != nil {
				return err
			}
			return encoder.Close()
		},
	}
}

// crlf gives text the line ends of a message, at its end also.
func crlf(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	return strings.ReplaceAll(strings.TrimSuffix(text, "\n")+"\n", "\n", "\r\n")
}

// multipart joins parts. The boundary comes from the Message-ID, so that the
// same message has the same bytes; "=_" is in no line of quoted-printable or
// base64 (RFC 2045 section 6.7).
func multipart(subtype, id string, parts ...entity) entity {
	sum := sha256.Sum256([]byte(subtype + "\x00" + id))
	boundary := fmt.Sprintf("=_%x", sum[:16])
	return entity{
		fields: []field{{"Content-Type", fmt.Sprintf("multipart/%s; boundary=%q", subtype, boundary)}},
		write: func(w io.Writer) error {
			multi := textproto.NewMultipartWriter(w)
			if err := multi.SetBoundary(boundary); err != nil {
				return err
			}
			for _, part := range parts {
				header, err := headerOf(part.fields)
				if err != nil {
					return err
				}
				body, err := multi.CreatePart(header)
				if err != nil {
					return err
				}
				if err := part.write(body); err != nil {
					return err
				}
			}
			return multi.Close()
		},
	}
}

// writeBase64 writes content in lines of 76 characters (RFC 2045 section 6.8).
func writeBase64(w io.Writer, content []byte) error {
	line := make([]byte, 0, 78)
	for chunk := range slices.Chunk(content, 57) {
		line = append(base64.StdEncoding.AppendEncode(line[:0], chunk), "\r\n"...)
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}
