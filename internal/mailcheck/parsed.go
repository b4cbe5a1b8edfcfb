package mailcheck

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// Parsed is what a message says.
type Parsed struct {
	Header      mail.Header // as it is written, with unfolded lines
	Subject     string      // decoded
	From        *mail.Address
	To          []*mail.Address
	ReplyTo     []*mail.Address // none where there is no such header
	Date        time.Time
	MessageID   string // without angle brackets
	Text        string // the text/plain part with its CRLFs; empty for none
	HTML        string // the text/html part with its CRLFs; empty for none
	Attachments []Attachment

	boundaries []string // of multiparts
}

// An Attachment is one attached file of a message, or a part of any type but
// plain text and HTML.
type Attachment struct {
	Name        string // decoded; empty for a part without a name
	ContentType string // the media type, without parameters
	Content     []byte
}

// readHeader returns every fault that the values have.
func (p *Parsed) readHeader() error {
	var subjectErr, fromErr, toErr, replyErr, dateErr error
	p.Subject, subjectErr = new(mime.WordDecoder).DecodeHeader(p.Header.Get("Subject"))
	p.From, fromErr = mail.ParseAddress(p.Header.Get("From"))
	p.To, toErr = p.Header.AddressList("To")
	if p.Header.Get("Reply-To") != "" {
		p.ReplyTo, replyErr = p.Header.AddressList("Reply-To")
	}
	p.Date, dateErr = p.Header.Date()
	p.MessageID = strings.Trim(p.Header.Get("Message-Id"), "<>")
	return errors.Join(
		named("Subject", subjectErr), named("From", fromErr), named("To", toErr),
		named("Reply-To", replyErr), named("Date", dateErr))
}

func named(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

// readPart reads the whole message, or a part of it with all that is inside.
func (p *Parsed) readPart(header textproto.MIMEHeader, body io.Reader) error {
	mediaType, parameters, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return fmt.Errorf("content type %q: %w", header.Get("Content-Type"), err)
	}
	if strings.HasPrefix(mediaType, "multipart/") {
		return p.readParts(parameters["boundary"], body)
	}
	content, err := decode(header.Get("Content-Transfer-Encoding"), body)
	if err != nil {
		return fmt.Errorf("%s part: %w", mediaType, err)
	}
	disposition, file, err := disposition(header)
	if err != nil {
		return err
	}
	text := map[string]*string{"text/plain": &p.Text, "text/html": &p.HTML}[mediaType]
	if disposition == "attachment" || text == nil {
		p.Attachments = append(p.Attachments, Attachment{Name: file, ContentType: mediaType, Content: content})
		return nil
	}
	return readText(text, mediaType, parameters["charset"], content)
}

func (p *Parsed) readParts(boundary string, body io.Reader) error {
	if boundary == "" {
		return errors.New("a multipart has no boundary")
	}
	p.boundaries = append(p.boundaries, boundary)
	for reader := multipart.NewReader(body, boundary); ; {
		part, err := reader.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = p.readPart(part.Header, part)
		}
		if err != nil {
			return fmt.Errorf("in a multipart: %w", err)
		}
	}
}

func decode(encoding string, body io.Reader) ([]byte, error) {
	switch strings.ToLower(encoding) {
	case "quoted-printable":
		return decodeQuotedPrintable(body)
	case "base64":
		return io.ReadAll(base64.NewDecoder(base64.StdEncoding, body))
	case "", "7bit":
		return io.ReadAll(body)
	default:
		return nil, fmt.Errorf("transfer encoding %q", encoding)
	}
}

var escaped = regexp.MustCompile(`=([0-9A-F]{2}|\r\n)`)

// decodeQuotedPrintable is stricter than the standard library, which takes an
// equals sign that nothing fits as it is (RFC 2045 section 6.7).
func decodeQuotedPrintable(body io.Reader) ([]byte, error) {
	encoded, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	if bytes.ContainsRune(escaped.ReplaceAll(encoded, nil), '=') {
		return nil, errors.New("an equals sign is not quoted")
	}
	return io.ReadAll(quotedprintable.NewReader(bytes.NewReader(encoded)))
}

// disposition returns how a part is shown, empty where it does not say, and
// the name of its file.
func disposition(header textproto.MIMEHeader) (how, file string, err error) {
	value := header.Get("Content-Disposition")
	if value == "" {
		return "", "", nil
	}
	how, parameters, err := mime.ParseMediaType(value)
	if err != nil {
		return "", "", fmt.Errorf("content disposition %q: %w", value, err)
	}
	return how, parameters["filename"], nil
}

func readText(into *string, mediaType, charset string, content []byte) error {
	switch {
	case *into != "":
		return fmt.Errorf("there are two parts of %s", mediaType)
	case !strings.EqualFold(charset, "utf-8") && !strings.EqualFold(charset, "us-ascii"):
		return fmt.Errorf("the charset of %s is %q", mediaType, charset)
	case !utf8.Valid(content):
		return fmt.Errorf("%s is not valid UTF-8", mediaType)
	}
	*into = string(content)
	return nil
}
