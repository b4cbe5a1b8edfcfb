package smtptest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/mail"
)

// A Message is a message that a server accepted.
type Message struct {
	Number   int    // 1 for the first that the server accepted
	Hello    string // what the client called itself in EHLO or HELO
	Username string // whom the client authenticated as; empty for nobody
	TLS      bool   // whether it came over TLS
	UTF8     bool   // whether the transaction was SMTPUTF8 (RFC 6531)

	From     string    // the envelope sender
	To       []string  // the envelope recipients
	Data     []byte    // header and body as they were transmitted, dots unstuffed
	Received time.Time // when the whole message had arrived
}

// Parsed is a message's content, decoded.
type Parsed struct {
	Header      mail.Header // github.com/emersion/go-message/mail
	Subject     string
	MessageID   string // without angle brackets
	Text        string // the text/plain part; empty for none
	HTML        string // the text/html part; empty for none
	Attachments []Attachment
}

// An Attachment is one attached file of a message.
type Attachment struct {
	Name        string
	ContentType string // the media type, without parameters
	Content     []byte
}

// Parse decodes the message. Text in a charset other than UTF-8 and ASCII is
// left as it is.
func (m Message) Parse() (Parsed, error) {
	reader, err := mail.CreateReader(bytes.NewReader(m.Data))
	if err != nil && !message.IsUnknownCharset(err) {
		return Parsed{}, fmt.Errorf("smtptest: parse message %d: %w", m.Number, err)
	}
	p := Parsed{Header: reader.Header}
	if p.Subject, err = reader.Header.Subject(); err != nil {
		return Parsed{}, fmt.Errorf("smtptest: parse message %d: subject: %w", m.Number, err)
	}
	if p.MessageID, err = reader.Header.MessageID(); err != nil {
		return Parsed{}, fmt.Errorf("smtptest: parse message %d: message id: %w", m.Number, err)
	}
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			return p, nil
		}
		if err == nil || message.IsUnknownCharset(err) && part != nil {
			err = p.add(part) // an unknown charset is passed on as it is
		}
		if err != nil {
			return Parsed{}, fmt.Errorf("smtptest: parse message %d: %w", m.Number, err)
		}
	}
}

func (p *Parsed) add(part *mail.Part) error {
	content, err := io.ReadAll(part.Body)
	if err != nil {
		return err
	}
	switch header := part.Header.(type) {
	case *mail.InlineHeader:
		mediaType, _, err := header.ContentType()
		if err != nil {
			return err
		}
		switch mediaType {
		case "text/plain":
			p.Text = string(content)
		case "text/html":
			p.HTML = string(content)
		}
	case *mail.AttachmentHeader:
		mediaType, _, err := header.ContentType()
		if err != nil {
			return err
		}
		name, err := header.Filename()
		if err != nil {
			return err
		}
		p.Attachments = append(p.Attachments, Attachment{Name: name, ContentType: mediaType, Content: content})
	}
	return nil
}

// MessageID returns the Message-ID without its angle brackets; empty where
// there is none, or the header cannot be read.
func (m Message) MessageID() string {
	header := m.header()
	id, err := header.MessageID()
	if err != nil {
		return ""
	}
	return id
}

// Subject returns the decoded subject; empty where there is none, or it cannot
// be read.
func (m Message) Subject() string {
	header := m.header()
	subject, err := header.Subject()
	if err != nil {
		return ""
	}
	return subject
}

func (m Message) header() mail.Header {
	reader, err := mail.CreateReader(bytes.NewReader(m.Data))
	if err != nil && !message.IsUnknownCharset(err) {
		return mail.Header{}
	}
	return reader.Header
}
