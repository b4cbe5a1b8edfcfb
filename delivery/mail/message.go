package mail

import (
	netmail "net/mail"
	"time"
)

// A Message is one e-mail to one recipient: what a [Sender] needs to compose
// and transmit it. One message goes to one recipient, so that each person's
// result is known by itself.
type Message struct {
	// Tenant chooses the SMTP integration that sends the message. The same
	// word as the job's tenant; for billing e-mails, the branch schema.
	Tenant string

	From    netmail.Address  // header From and, its address, the envelope sender
	To      netmail.Address  // header To and, its address, the envelope recipient
	ReplyTo *netmail.Address // header Reply-To; nil for none

	Subject     string // plain text, any script; never HTML
	Text        string // the plain text alternative; required
	HTML        string // the HTML alternative; empty for none
	Attachments []Attachment

	// Headers are further header fields, in the order given. Those that a
	// Sender writes by itself (From, To, Date, Message-ID, MIME fields, Bcc)
	// are refused here.
	Headers []Header

	// MessageID is the Message-ID without its angle brackets. Empty means one
	// at random in the domain of From. The [Mailer] sets one derived from the
	// delivery's key, the same at every attempt.
	MessageID string

	// Date is the header Date. Zero means the time of composition. The
	// [Mailer] sets the time of the first claim, so that every attempt
	// composes the same bytes.
	Date time.Time
}

// A Header is one further header field of a [Message].
type Header struct{ Name, Value string }

// An Attachment is one file of a [Message].
type Attachment struct {
	Name        string // the file name shown to the reader, any script
	ContentType string // such as "application/pdf"; empty means application/octet-stream
	Content     []byte
}
