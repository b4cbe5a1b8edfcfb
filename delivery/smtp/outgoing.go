package smtp

import (
	"bytes"

	"github.com/buzon-go/buzon/delivery/mail"
)

// An outgoing message is composed, and ready for any connection.
type outgoing struct {
	from, to string // the envelope, domains in ASCII
	size     int    // of the message in bytes, as SIZE counts it (RFC 1870)
	body     []byte // what goes on the wire before CRLF "." CRLF

	// utf8Reach is the reach of a server's not offering SMTPUTF8; empty where
	// the message does not need it.
	utf8Reach mail.Reach
}

func (o *outgoing) needsUTF8() bool { return o.utf8Reach != "" }

// prepare composes m for transmission. Errors are *mail.SendError.
func prepare(m *mail.Message) (*outgoing, error) {
	p, err := resolve(m)
	if err != nil {
		return nil, err
	}
	data, err := compose(m, p)
	if err != nil {
		return nil, err
	}
	return &outgoing{
		from:      p.from.Address,
		to:        p.to.Address,
		size:      len(data),
		body:      bytes.TrimSuffix(stuff(data), []byte("\r\n")),
		utf8Reach: p.utf8Reach,
	}, nil
}

// stuff doubles the dot at the start of a line (RFC 5321 section 4.5.2), the
// very first included. The message has no line ends but CRLF.
func stuff(data []byte) []byte {
	if bytes.Contains(data, []byte("\r\n.")) {
		data = bytes.ReplaceAll(data, []byte("\r\n."), []byte("\r\n.."))
	}
	if bytes.HasPrefix(data, []byte(".")) {
		data = append([]byte("."), data...)
	}
	return data
}
