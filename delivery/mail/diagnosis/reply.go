package diagnosis

import (
	"regexp"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail"
)

// A reply is what a server said at a phase.
type reply struct {
	phase    mail.Phase
	code     int    // 0 for no reply
	enhanced string // empty for none
	text     string
}

var enhancedForm = regexp.MustCompile(`^[245]\.\d{1,3}\.\d{1,3}$`)

func replyOf(failure *mail.SendError) reply {
	said := reply{phase: failure.Phase}
	if failure.Code < 200 || failure.Code > 599 {
		return said
	}
	said.code = failure.Code
	if enhancedForm.MatchString(failure.Enhanced) {
		said.enhanced = failure.Enhanced
	}
	if failure.Err != nil {
		said.text = failure.Err.Error()
	}
	return said
}

func (r reply) negative() bool  { return r.code >= 400 }
func (r reply) temporary() bool { return r.code/100 == 4 }

// early reports the phases before the first message, where nothing can be about
// one.
func (r reply) early() bool {
	switch r.phase {
	case mail.PhaseGreeting, mail.PhaseHello, mail.PhaseTLS, mail.PhaseAuth:
		return true
	}
	return false
}

// quoted returns the server's words. A positive reply that came out of step,
// and a refusal in place of TLS, come with words of the Sender's.
func (r reply) quoted() string {
	switch {
	case !r.negative(), r.phase == mail.PhaseTLS:
		return ""
	case r.phase == mail.PhaseAuth:
		return quote(withoutTokens(r.text))
	}
	return quote(r.text)
}

// cause tells what a reply means, from what is surest: the codes of RFC 4954,
// the enhanced code, well-known words, and what is likely at the phase.
func (r reply) cause() Cause {
	if !r.negative() {
		if r.phase == mail.PhaseGreeting || r.phase == mail.PhaseHello {
			return NotAMailServer // NNTP greets with 200
		}
		return Other
	}
	switch r.code {
	case 534, 535:
		return PasswordRefused
	case 523, 538:
		return EncryptionRequired
	}
	if cause, ok := byEnhanced(r.enhanced); ok {
		return r.suited(cause)
	}
	if cause, ok := r.byWords(); ok {
		return r.suited(cause)
	}
	if r.early() {
		return r.byPreparation()
	}
	return r.byTransaction()
}

// suited corrects a cause by the phase and the code: before RCPT an address is
// the sender's, and what passes by itself is nobody's fault.
func (r reply) suited(cause Cause) Cause {
	switch {
	case cause == RecipientRefused && r.phase == mail.PhaseMail:
		return SenderNotAllowed
	case cause == RecipientRefused && r.temporary() && r.enhanced != "4.1.2",
		cause == MessageRefused && r.temporary():
		return ServerBusy
	}
	return cause
}

// byPreparation tells what a refusal before the first message means.
func (r reply) byPreparation() Cause {
	switch {
	case r.phase == mail.PhaseGreeting, r.phase == mail.PhaseTLS && (r.code == 421 || r.code == 554):
		return ServerClosed // RFC 5321 section 3.1; in place of TLS, too
	case r.temporary():
		return ServerBusy
	case r.phase == mail.PhaseTLS:
		return EncryptionMissing
	case r.phase == mail.PhaseAuth && r.code > 504:
		return PasswordRefused
	case r.phase == mail.PhaseAuth: // the command or the mechanism is unknown
		return LoginUnavailable
	case r.code == 500, r.code == 502, r.code == 530:
		return NotAMailServer // FTP knows no EHLO, and may want a login first
	}
	return ServerClosed
}

// byTransaction tells what a refusal of a message means.
func (r reply) byTransaction() Cause {
	switch {
	case r.temporary():
		return ServerBusy
	case r.code == 530, r.code == 503:
		// 503 is about the order of commands, and what some say where AUTH
		// should have come first.
		return LoginRequired
	case r.code == 552 && r.phase == mail.PhaseRcpt: // RFC 5321 section 4.2.3
		return MailboxFull
	case r.code == 552 && !r.isPolicy():
		return TooLarge
	case r.phase == mail.PhaseMail && r.code >= 550 && r.code != 555:
		return SenderNotAllowed
	case r.phase == mail.PhaseMail:
		return Other // a parameter that the server does not know
	case r.phase == mail.PhaseRcpt && !r.isPolicy():
		return RecipientRefused
	}
	return MessageRefused
}

func (r reply) isPolicy() bool { return strings.HasPrefix(r.enhanced, "5.7.") }
