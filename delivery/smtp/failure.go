package smtp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/emersion/go-smtp"

	"github.com/buzon-go/buzon/delivery/mail"
)

// fail makes a *mail.SendError of an error of the present phase.
func (s *session) fail(ctx context.Context, err error) error {
	return s.failure(ctx, err, time.Since(s.wire.began))
}

// failure makes a *mail.SendError of an error that came when the present phase
// had lasted for elapsed. In the order of what is certain: the server's own
// word, a fault of ours or of the set-up, the caller's context, the network.
func (s *session) failure(ctx context.Context, err error, elapsed time.Duration) error {
	failure := &mail.SendError{Phase: s.phase, Certainty: mail.NotAccepted, Err: err}
	if reply, ok := replyOf(err); ok {
		s.replied(failure, reply)
		return failure
	}
	if s.phase == mail.PhaseDot && s.wire.dotDone {
		failure.Certainty = mail.Unknown
	}
	switch refused, isRefusal := errors.AsType[*refusal](err); {
	case isRefusal:
		failure.Reach = refused.reach
	case s.isSetUp(err):
		failure.Reach = mail.ReachIntegration
	case ctx.Err() != nil:
		failure.Reach, failure.Temporary = s.abandoned(ctx, elapsed), true
		failure.Err = gaveUp(ctx)
	case isNotFound(err):
		failure.Reach, failure.Temporary = mail.ReachIntegration, true
	default:
		failure.Reach, failure.Temporary = s.networkReach(), true
		failure.Err = s.networkWords(err)
	}
	return failure
}

// replied fills in what the server said.
func (s *session) replied(failure *mail.SendError, reply reply) {
	text := reply.text
	if s.phase == mail.PhaseAuth {
		text = withoutCredentials(text, s.integration)
	}
	failure.Code, failure.Enhanced = reply.code, reply.enhanced
	failure.Err = errors.New(text)
	if !reply.negative() {
		// Out of step: what the server made of our words cannot be told.
		failure.Reach, failure.Temporary = mail.ReachServer, true
		failure.Err = fmt.Errorf("unexpected reply: %s", text)
		if s.phase == mail.PhaseDot {
			failure.Certainty = mail.Unknown
		}
		return
	}
	failure.Reach, failure.Temporary = classify(s.phase, reply.code, reply.enhanced)
}

// isSetUp reports faults that the integration's owner must put right.
func (s *session) isSetUp(err error) bool {
	if errors.Is(err, errPasswordInClear) || errors.Is(err, errNoMechanism) {
		return true
	}
	// Whatever ends a handshake without ending the connection is a matter of
	// certificates, versions or ports.
	return s.phase == mail.PhaseTLS && !isBroken(err)
}

// isBroken reports errors of the connection, as against errors of what came
// over it.
func isBroken(err error) bool {
	for _, broken := range []error{io.EOF, io.ErrUnexpectedEOF, os.ErrDeadlineExceeded, net.ErrClosed} {
		if errors.Is(err, broken) {
			return true
		}
	}
	_, isSyscall := errors.AsType[*os.SyscallError](err)
	return isSyscall
}

// silence is how long a server must have kept a Send waiting for its silence to
// count against the server, when the Send's deadline ends the wait.
const silence = 10 * time.Second

// abandoned returns the reach of a Send that its context has ended: a message
// that was cancelled says nothing of the server, one that ran out of time
// because the server kept silent does.
func (s *session) abandoned(ctx context.Context, elapsed time.Duration) mail.Reach {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) && elapsed >= silence {
		return s.networkReach()
	}
	return mail.ReachMessage
}

// networkReach returns how far a failure of the network reaches. Before RCPT
// every message would meet it; from there on it may be this message's doing.
func (s *session) networkReach() mail.Reach {
	switch s.phase {
	case mail.PhaseRcpt, mail.PhaseData, mail.PhaseBody, mail.PhaseDot:
		return mail.ReachMessage
	}
	return mail.ReachServer
}

func (s *session) networkWords(err error) error {
	switch {
	case s.phase == mail.PhaseDial:
		return err // it names the host already
	case errors.Is(err, os.ErrDeadlineExceeded) && s.phase == mail.PhaseBody:
		return fmt.Errorf("the server stopped taking the message for %s: %w", s.timeouts.Block, err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("no reply within %s: %w", s.wire.waited, err)
	case isBroken(err):
		return fmt.Errorf("the connection broke: %w", err)
	}
	return fmt.Errorf("the server does not keep to the protocol: %w", err)
}

// gaveUp returns ctx's error, and its cause where somebody gave one.
func gaveUp(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(ctx.Err(), cause) {
		return fmt.Errorf("gave up: %w: %w", ctx.Err(), cause)
	}
	return fmt.Errorf("gave up: %w", ctx.Err())
}

// A reply is what a server said.
type reply struct {
	code     int
	enhanced string // such as "5.1.1"; empty for none
	text     string
}

func (r reply) negative() bool { return r.code/100 == 4 || r.code/100 == 5 }

// replyOf returns the reply that err carries, and whether it carries one.
func replyOf(err error) (reply, bool) {
	if said, ok := errors.AsType[*smtp.SMTPError](err); ok {
		r := reply{code: said.Code, text: cleanText(said.Message)}
		// go-smtp takes the code off the text, and takes any three numbers.
		code := said.EnhancedCode
		if r.enhanced = enhancedCode(fmt.Sprintf("%d.%d.%d", code[0], code[1], code[2])); r.enhanced == "" {
			r.enhanced = enhancedCode(said.Message)
		}
		return r, true
	}
	if said, ok := errors.AsType[*textproto.Error](err); ok {
		enhanced := enhancedCode(said.Msg)
		text := strings.ReplaceAll("\n"+said.Msg, "\n"+enhanced+" ", "\n")
		return reply{code: said.Code, enhanced: enhanced, text: cleanText(text)}, true
	}
	return reply{}, false
}

// cleanText makes a server's text fit for logs and for PostgreSQL, which
// refuses NUL and invalid UTF-8.
func cleanText(text string) string {
	const limit = 500
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") // not half a character
	}
	return strings.TrimSpace(text)
}

// isNotFound reports a host name that does not exist.
func isNotFound(err error) bool {
	unresolved, ok := errors.AsType[*net.DNSError](err)
	return ok && unresolved.IsNotFound
}
