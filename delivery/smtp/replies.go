package smtp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/textproto"
)

// Limits of what a server may say. RFC 5321 section 4.5.3.1.5 allows reply
// lines of 512 octets; real ones are longer, and go-smtp breaks at 2000.
const (
	maxReplyLine = 1024
	maxReply     = 64 << 10 // of all lines of one reply
)

// replies is the connection as go-smtp's client sees it. It hands out one line
// of the server at a time, so that go-smtp's own buffer never holds more than
// the reply that it is reading, and the next one can be read here. It also
// repairs what net/textproto cannot read: lines that are too long are
// shortened, and a reply of three digits alone, which RFC 5321 section 4.2
// allows, gets a space behind them. And it writes the keywords of a reply to
// EHLO, which may come in any case (section 4.1.1.1), in the capitals that
// go-smtp looks for.
type replies struct {
	net.Conn
	reader *bufio.Reader
	line   []byte            // what is left of the line that is being handed out
	heard  int               // bytes since the last command
	hello  bool              // whether what is read is the reply to EHLO
	parser *textproto.Reader // of what is handed out
}

func newReplies(conn net.Conn) *replies {
	r := &replies{Conn: conn, reader: bufio.NewReaderSize(conn, maxReplyLine)}
	r.parser = textproto.NewReader(bufio.NewReaderSize(r, maxReplyLine))
	return r
}

// Read implements net.Conn.
func (r *replies) Read(b []byte) (int, error) {
	if len(r.line) == 0 {
		line, err := r.next()
		if err != nil {
			return 0, err
		}
		r.line = line
	}
	n := copy(b, r.line)
	r.line = r.line[n:]
	return n, nil
}

// Write implements net.Conn.
func (r *replies) Write(b []byte) (int, error) {
	r.heard = 0
	return r.Conn.Write(b)
}

var errReplyTooLong = errors.New("the server's reply does not end")

// next reads a line. One that the server did not end is an error: it may have
// wanted to say more.
func (r *replies) next() ([]byte, error) {
	line, err := r.reader.ReadSlice('\n')
	line = bytes.Clone(bytes.TrimRight(line, "\r\n"))
	r.heard += len(line)
	for errors.Is(err, bufio.ErrBufferFull) && r.heard <= maxReply {
		var rest []byte
		rest, err = r.reader.ReadSlice('\n')
		r.heard += len(rest)
	}
	switch {
	case r.heard > maxReply:
		return nil, errReplyTooLong
	case errors.Is(err, io.EOF) && len(line) > 0:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	if len(line) == len("250") {
		line = append(line, ' ')
	}
	if r.hello {
		line = capitalise(line)
	}
	return append(line, "\r\n"...), nil
}

// capitalise puts the keyword of a line such as "250-size 1000" in capitals.
func capitalise(line []byte) []byte {
	for i := len("250 "); i < len(line) && line[i] != ' '; i++ {
		if line[i] >= 'a' && line[i] <= 'z' {
			line[i] -= 'a' - 'A'
		}
	}
	return line
}

// repeatGreeting makes the next read find a greeting. go-smtp's client begins
// with reading one, but it has been read before, to give it a time limit of its
// own, and after STARTTLS the server sends none (RFC 3207 section 4.2).
func (r *replies) repeatGreeting() { r.line = []byte("220 \r\n") }

// reply reads a whole reply and returns its text. A code that does not begin
// with the digits expected is a *textproto.Error.
func (r *replies) reply(expected int) (string, error) {
	_, text, err := r.parser.ReadResponse(expected)
	return text, err
}

// command writes a command and reads its reply.
func (r *replies) command(expected int, line string) error {
	if _, err := io.WriteString(r, line+"\r\n"); err != nil {
		return err
	}
	_, err := r.reply(expected)
	return err
}

// unread reports whether the server has said more than was asked.
func (r *replies) unread() bool { return len(r.line) > 0 || r.reader.Buffered() > 0 }
