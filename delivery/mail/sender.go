package mail

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// A Sender transmits one message through the SMTP integration of its tenant.
// Package delivery/smtp has the one for production. A Sender is called from
// many goroutines at once.
type Sender interface {
	// Send transmits m in one SMTP transaction and returns what the server
	// said when it took the message. Only a positive reply to the final dot
	// (the end of the message's data, RFC 5321 section 4.1.1.4) is a success,
	// and nothing that happens after that reply changes it.
	//
	// Send calls commit once, when everything but the final dot has been
	// written. When commit returns an error, Send closes the connection
	// without the dot, so that the server takes nothing, and returns an error
	// that wraps commit's. commit may take as long as a database round trip.
	// A nil commit is not called.
	//
	// ctx bounds everything up to the dot. When it ends after the dot, Send
	// may wait a little longer for the reply, since to give up then is not to
	// know.
	//
	// An error is, or wraps, a *SendError where the Sender can tell what
	// happened. Any other error that is returned after commit had returned nil
	// counts as [Unknown].
	Send(ctx context.Context, m *Message, commit func(context.Context) error) (Receipt, error)
}

// A Receipt is what a server said when it took a message.
type Receipt struct {
	// Response is the text of the server's reply to the final dot, without
	// its code. Relays put their own id of the message there.
	Response string
}

// A Phase is a step of an SMTP session, in the order of their constants.
type Phase string

// The phases of a session.
const (
	PhaseCompose  Phase = "compose"  // before any connection: integration and message
	PhaseDial     Phase = "dial"     // name resolution and connection
	PhaseGreeting Phase = "greeting" // the server's first line
	PhaseHello    Phase = "ehlo"
	PhaseTLS      Phase = "tls" // STARTTLS or the TLS handshake
	PhaseAuth     Phase = "auth"
	PhaseMail     Phase = "mail" // MAIL FROM
	PhaseRcpt     Phase = "rcpt" // RCPT TO
	PhaseData     Phase = "data" // DATA
	PhaseBody     Phase = "body" // the message, up to its final dot
	PhaseDot      Phase = "dot"  // the final dot and its reply
)

// Reach tells how far a failure reaches: what else is bound to fail alike.
type Reach string

// The reaches of a failure, from the narrowest.
const (
	ReachMessage     Reach = "message"     // this message only
	ReachRecipient   Reach = "recipient"   // whatever is sent to this recipient
	ReachSender      Reach = "sender"      // whatever is sent from this sender
	ReachIntegration Reach = "integration" // whatever the tenant sends: credentials, policy, set-up
	ReachServer      Reach = "server"      // whatever goes through this server
)

// Certainty tells whether a message that was not confirmed can have been taken.
type Certainty string

// What can be known of a message that failed.
const (
	// NotAccepted: the server did not take the message; sending it again
	// cannot give a second copy.
	NotAccepted Certainty = "not accepted"
	// Unknown: the final dot was written and no reply to it was read (RFC
	// 1047). The server may have taken the message, or not.
	Unknown Certainty = "unknown"
)

// A SendError tells what a failed [Sender.Send] knows. Its text holds no
// address and no secret.
type SendError struct {
	Phase     Phase
	Code      int    // the server's reply code, such as 550; 0 where there was no reply
	Enhanced  string // the enhanced status code (RFC 3463), such as "5.1.1"; empty for none
	Reach     Reach
	Certainty Certainty // empty means NotAccepted
	Temporary bool      // whether the same message may pass at a later time

	// Err is the cause: the server's text, an error of the network, or what
	// commit returned.
	Err error
}

// Error implements error: phase, codes and cause, addresses left out.
func (e *SendError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "smtp: %s: ", e.Phase)
	if e.Code != 0 {
		fmt.Fprintf(&b, "%d ", e.Code)
	}
	if e.Enhanced != "" {
		b.WriteString(e.Enhanced + " ")
	}
	if e.Err != nil {
		b.WriteString(withoutAddresses(e.Err.Error()))
	}
	if e.Certainty == Unknown {
		b.WriteString(" (outcome unknown: the message may have been taken)")
	}
	return strings.TrimSpace(b.String())
}

// Retryable reports whether another attempt makes sense: the failure passes by
// itself, its outcome is unknown, or the message is not at fault, since the
// tenant's integration or the server is, and somebody may put that right.
func (e *SendError) Retryable() bool {
	return e.Temporary || e.Certainty == Unknown || e.Reach == ReachIntegration || e.Reach == ReachServer
}

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }

// addressPattern matches what looks like an e-mail address in a server's text.
var addressPattern = regexp.MustCompile(`[^\s<>"'(),;:]+@[^\s<>"'(),;:]+`)

// withoutAddresses replaces e-mail addresses: servers like to repeat the
// recipient, and errors end in logs.
func withoutAddresses(text string) string {
	return addressPattern.ReplaceAllString(text, "[address]")
}
