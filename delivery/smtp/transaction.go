package smtp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/buzon-go/buzon/delivery/mail"
)

// transmit sends one message in one transaction and returns the text of the
// server's reply to the final dot. Errors are *mail.SendError. Afterwards the
// session is ready for the next message, or broken.
func (s *session) transmit(ctx context.Context, m *outgoing, commit func(context.Context) error) (string, error) {
	s.messages++
	s.broken = true // until the transaction has come to a known end
	if err := s.untilDot(ctx, m, commit); err != nil {
		return "", err
	}
	response, err := s.dot(ctx)
	if err != nil {
		return "", s.fail(ctx, err)
	}
	return response, nil
}

// untilDot does everything but the dot. Where it returns no error, ctx cuts the
// connection no more; where ctx has begun to cut it, there is an error.
func (s *session) untilDot(ctx context.Context, m *outgoing, commit func(context.Context) error) (err error) {
	stop := context.AfterFunc(ctx, s.wire.cut)
	defer func() {
		if stop() {
			return
		}
		s.broken = true
		if err == nil {
			err = s.fail(ctx, ctx.Err())
		}
	}()
	if err := s.envelope(m); err != nil {
		return s.fail(ctx, err)
	}
	if err := s.body(m); err != nil {
		return s.fail(ctx, err)
	}
	if commit == nil {
		return nil
	}
	if err := commit(ctx); err != nil {
		s.wire.cut()
		return refusedByCommit(err)
	}
	return nil
}

// refusedByCommit is the failure of a Send whose commit said no.
func refusedByCommit(err error) error {
	return &mail.SendError{
		Phase:     mail.PhaseBody,
		Certainty: mail.NotAccepted,
		Reach:     mail.ReachMessage,
		Temporary: true,
		Err:       fmt.Errorf("aborted before the final dot: %w", err),
	}
}

// A step is a command of the envelope, and the reply that it must have: a code,
// or the first digits of one.
type step struct {
	phase    mail.Phase
	timeout  time.Duration
	command  string
	expected int
}

// envelope says MAIL, RCPT and DATA. Where the server lets it (RFC 2920) it
// says them in one breath, which spares two of the four times that a message
// waits for the server.
func (s *session) envelope(m *outgoing) error {
	s.begin(mail.PhaseMail, s.timeouts.Mail)
	if err := s.suits(m); err != nil {
		s.broken = false // nothing was said
		return err
	}
	steps := []step{
		{mail.PhaseMail, s.timeouts.Mail, s.mailCommand(m), 250},
		{mail.PhaseRcpt, s.timeouts.Rcpt, "RCPT TO:<" + m.to + ">", 25},
		{mail.PhaseData, s.timeouts.Data, "DATA", 354},
	}
	pipelining, _ := s.client.Extension("PIPELINING")
	said := 0
	for i, step := range steps {
		s.begin(step.phase, step.timeout)
		if i == said {
			said = i + 1
			if pipelining {
				said = len(steps)
			}
			if err := s.say(steps[i:said]); err != nil {
				return err
			}
		}
		if _, err := s.replies.reply(step.expected); err != nil {
			s.rescue(err, steps[i+1:said])
			return err
		}
	}
	if s.replies.unread() {
		return errOutOfStep // a 250 waiting there would pass for the dot's
	}
	return nil
}

var errOutOfStep = errors.New("the server sent a reply before its time")

func (s *session) say(steps []step) error {
	lines := ""
	for _, step := range steps {
		lines += step.command + "\r\n"
	}
	_, err := io.WriteString(s.replies, lines)
	return err
}

// mailCommand declares the message's size, so that a server can refuse it
// before it is transmitted (RFC 1870). The addresses have passed
// mail.CheckAddress, which leaves nothing that could end them early.
func (s *session) mailCommand(m *outgoing) string {
	command := "MAIL FROM:<" + m.from + ">"
	if offered, _ := s.client.Extension("SIZE"); offered {
		command += fmt.Sprintf(" SIZE=%d", m.size)
	}
	if m.needsUTF8() {
		command += " BODY=8BITMIME SMTPUTF8" // RFC 6531 section 3.6
	}
	return command
}

// A refusal is a fault that is found on this side, about to use a connection
// that has nothing wrong with it.
type refusal struct {
	reach mail.Reach
	err   error
}

func (r *refusal) Error() string { return r.err.Error() }
func (r *refusal) Unwrap() error { return r.err }

var errNoSMTPUTF8 = errors.New("the address needs SMTPUTF8 (RFC 6531), which the server does not offer")

// suits refuses what the server has said beforehand that it will not take.
func (s *session) suits(m *outgoing) error {
	if limit, ok := s.client.MaxMessageSize(); ok && limit > 0 && m.size > limit {
		return &refusal{mail.ReachMessage,
			fmt.Errorf("the message has %d bytes, and the server takes at most %d", m.size, limit)}
	}
	if offered, _ := s.client.Extension("SMTPUTF8"); m.needsUTF8() && !offered {
		return &refusal{m.utf8Reach, errNoSMTPUTF8}
	}
	return nil
}

// rescue makes the connection fit for another message after err, if err leaves
// it intact: reads the replies to what was already said, and says RSET.
func (s *session) rescue(err error, unanswered []step) {
	if r, ok := replyOf(err); !ok || !r.negative() || r.code == 421 {
		return
	}
	s.wire.begin(s.courtesy())
	for _, step := range unanswered {
		_, err := s.replies.reply(step.expected)
		if err == nil && step.phase == mail.PhaseData {
			// The server waits for data although it refused the envelope (RFC
			// 2920 section 3.1). Nothing but closing ends that without a dot.
			return
		}
		if _, replied := replyOf(err); err != nil && !replied {
			return
		}
	}
	// go-smtp's Reset would make its next command say EHLO again.
	s.broken = s.replies.command(250, "RSET") != nil
}

// body writes the message, dots stuffed, up to but not including its last CRLF.
func (s *session) body(m *outgoing) error {
	s.begin(mail.PhaseBody, s.timeouts.Block)
	_, err := s.replies.Write(m.body)
	if err == nil {
		return nil
	}
	// A server that has had enough says why before it closes; the message is
	// not accepted, as its dot is missing.
	s.wire.begin(s.courtesy())
	_, said := s.replies.reply(2)
	if r, ok := replyOf(said); ok && r.negative() {
		return said
	}
	return err
}

// endOfData ends the last line and the message.
const endOfData = "\r\n.\r\n"

// dot writes the end of the data and reads the reply. From its first byte on
// ctx does not abort, but only shortens the wait.
func (s *session) dot(ctx context.Context) (string, error) {
	s.begin(mail.PhaseDot, s.timeouts.Dot)
	hurried := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(hurried)
		s.wire.hurry(s.replyGrace)
	})
	defer func() {
		if !stop() {
			<-hurried // lest it hurry the next message
		}
	}()
	if err := s.wire.writeDot(s.replies, endOfData); err != nil {
		return "", err
	}
	// Any 2yz is a success: only the first digit tells (RFC 5321 section 4.3.2).
	text, err := s.replies.reply(2)
	if err == nil {
		s.broken = false
		return cleanText(text), nil
	}
	if r, ok := replyOf(err); ok && r.negative() {
		// The transaction is over without a RSET (RFC 5321 section 4.1.1.4).
		s.broken = r.code == 421
	}
	return "", err
}
