package smtptest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
)

// A Conversation is one connection of a [RawPeer]. Its methods belong to the
// script's goroutine. One that cannot go on, because the client is gone or says
// something else than expected, ends the script and the connection.
type Conversation struct {
	// Number is 1 for the peer's first connection, 2 for the second, and so on.
	Number int
	// Extensions are what the peer offers in its reply to EHLO, such as
	// "STARTTLS" or "SIZE 1000". Empty means none.
	Extensions []string

	peer    *RawPeer
	conn    net.Conn
	reader  *bufio.Reader
	greeted bool
	// waiting is the phase whose reply the client waits for; empty for none.
	waiting Phase
	// early is whether the script has replied before it read the message.
	early bool
}

func newConversation(peer *RawPeer, conn net.Conn, number int) *Conversation {
	return &Conversation{Number: number, peer: peer, conn: conn, reader: bufio.NewReader(conn)}
}

// Reply writes each line, and CRLF after it.
func (c *Conversation) Reply(lines ...string) {
	c.Write(strings.Join(lines, "\r\n") + "\r\n")
}

// Write writes raw as it is.
func (c *Conversation) Write(raw string) {
	c.early = c.early || c.waiting == Body
	c.waiting = ""
	c.greeted = true
	if _, err := io.WriteString(c.conn, raw); err != nil {
		c.end()
	}
}

// Command returns the next line that the client sends, without its CRLF.
func (c *Conversation) Command() string {
	line, err := c.readLine()
	if err != nil {
		c.fail(fmt.Errorf("waiting for a command: %w", err))
	}
	return line
}

func (c *Conversation) readLine() (string, error) {
	line, err := c.reader.ReadString('\n')
	if err != nil {
		return "", err
	}
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	c.peer.addCommand(line)
	return line, nil
}

// Expect returns the next line, which must begin with prefix, whatever its
// case.
func (c *Conversation) Expect(prefix string) string {
	line := c.Command()
	if !hasVerb(line, prefix) {
		c.fail(fmt.Errorf("expected %s, got %q", prefix, line))
	}
	return line
}

// Data reads a message up to its final dot, records it, and returns it with its
// dots unstuffed. It does not reply.
func (c *Conversation) Data() []byte {
	data, err := c.readData()
	if err != nil {
		c.fail(fmt.Errorf("waiting for the final dot: %w", err))
	}
	c.waiting = Dot
	return data
}

// readData reads strictly: only CRLF "." CRLF ends a message.
func (c *Conversation) readData() ([]byte, error) {
	var data bytes.Buffer
	startOfLine := true
	for {
		line, err := c.reader.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if startOfLine && bytes.Equal(line, []byte(".\r\n")) {
			c.peer.addData(data.Bytes())
			c.early = false
			return data.Bytes(), nil
		}
		if startOfLine {
			line = bytes.TrimPrefix(line, []byte("."))
		}
		data.Write(line)
		startOfLine = bytes.HasSuffix(line, []byte("\r\n"))
	}
}

// Until plays an agreeable server, from wherever the conversation stands, up to
// the point where the client waits for the reply of that phase, and leaves that
// reply to the script. At [Body] the DATA has been answered and nothing of the
// message was read; at [Dot] all of it was. A script that replies at Body has
// replied early: what comes after it is still read as the message.
func (c *Conversation) Until(phase Phase) {
	if err := c.until(phase); err != nil {
		c.fail(fmt.Errorf("waiting for phase %q: %w", phase, err))
	}
}

// Serve plays an agreeable server until the client is gone.
func (c *Conversation) Serve() { _ = c.until("") }

// errQuit ends a conversation in good order.
var errQuit = errors.New("the client said QUIT")

func (c *Conversation) until(phase Phase) error {
	if !c.greeted {
		c.greeted = true
		c.waiting = Greeting
	}
	for {
		if c.waiting == "" {
			if err := c.listen(); err != nil {
				return err
			}
		}
		if c.waiting == phase {
			return nil
		}
		if err := c.agree(phase); err != nil {
			return err
		}
	}
}

// listen reads the next command, and a message where one follows.
func (c *Conversation) listen() error {
	if c.early {
		if _, err := c.readData(); err != nil {
			return err
		}
	}
	line, err := c.readLine()
	if err != nil {
		return err
	}
	for verb, phase := range verbs {
		if hasVerb(line, verb) {
			c.waiting = phase
			return nil
		}
	}
	c.fail(fmt.Errorf("unknown command %q", line))
	return nil
}

const (
	resetting Phase = "rset"
	quitting  Phase = "quit"
)

var verbs = map[string]Phase{
	"EHLO": Hello, "HELO": Hello, "STARTTLS": STARTTLS, "AUTH": Auth, "MAIL": Mail,
	"RCPT": Rcpt, "DATA": Data, "RSET": resetting, "QUIT": quitting,
}

// agree gives the usual reply to what the client waits for.
func (c *Conversation) agree(until Phase) error {
	switch c.waiting {
	case Greeting:
		c.Reply("220 raw.invalid ESMTP")
	case Hello:
		c.hello()
	case STARTTLS:
		c.Reply("454 4.7.0 the script has no TLS")
	case Auth:
		c.Reply("235 2.7.0 welcome")
	case Data:
		c.Reply("354 go on")
		if until == Body {
			c.waiting = Body
			return nil
		}
		return c.body()
	case Body:
		return c.body()
	case Dot:
		c.Reply("250 2.0.0 taken")
	case quitting:
		c.Reply("221 2.0.0 bye")
		return errQuit
	default:
		c.Reply("250 2.0.0 fine")
	}
	return nil
}

func (c *Conversation) hello() {
	lines := append([]string{"raw.invalid"}, c.Extensions...)
	for i := range lines {
		separator := "-"
		if i == len(lines)-1 {
			separator = " "
		}
		lines[i] = "250" + separator + lines[i]
	}
	c.Reply(lines...)
}

func (c *Conversation) body() error {
	if _, err := c.readData(); err != nil {
		return err
	}
	c.waiting = Dot
	return nil
}

// Stall says nothing, and reads and forgets what the client sends, until the
// client or the peer closes the connection.
func (c *Conversation) Stall() {
	_, _ = io.Copy(io.Discard, c.reader)
	c.end()
}

// ExpectEnd waits until the client closes the connection. That the client says
// anything before is a fault.
func (c *Conversation) ExpectEnd() {
	if line, err := c.readLine(); err == nil {
		c.fail(fmt.Errorf("expected the end of the connection, got %q", line))
	}
	c.end()
}

// Freeze neither reads nor writes until the peer is closed, so that a client
// that goes on writing finds the connection full.
func (c *Conversation) Freeze() {
	if tcp, ok := c.conn.(*trackedConn).Conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10) // full sooner; larger buffers only take longer
	}
	<-c.peer.closing
	c.end()
}

// Close closes the connection and ends the script.
func (c *Conversation) Close() { c.end() }

// Reset closes the connection with a TCP reset and ends the script, as a
// crashed machine or an impatient firewall does.
func (c *Conversation) Reset() {
	if tcp, ok := c.conn.(*trackedConn).Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // without it the peer only sees an orderly end
	}
	c.end()
}

func (c *Conversation) fail(err error) {
	select {
	case <-c.peer.closing: // the peer's own closing is no fault
	default:
		c.peer.addFault(fmt.Errorf("smtptest: connection %d: %w", c.Number, err))
	}
	c.end()
}

// end leaves the script; the connection is closed by the deferred call of the
// goroutine that runs it.
func (c *Conversation) end() { runtime.Goexit() }

func hasVerb(line, verb string) bool {
	return len(line) >= len(verb) && strings.EqualFold(line[:len(verb)], verb)
}
