package smtp

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail"
)

// classify tells from a negative reply (4yz or 5yz) at a phase how far the
// failure reaches, and whether it can pass by itself.
//
// The enhanced status code (RFC 3463) is asked first, since it says what a
// reply is about, where the reply code often only says that it is bad news.
// Temporary follows the reply code's first digit, with these exceptions: a full
// mailbox, too many recipients, and a refusal at the greeting pass by
// themselves whatever the digit.
func classify(phase mail.Phase, code int, enhanced string) (reach mail.Reach, temporary bool) {
	temporary = code/100 == 4
	if subject, detail, ok := parseEnhanced(enhanced); ok {
		if v, ok := byEnhanced(phase, code, subject, detail); ok {
			return v.reach, temporary || v.temporary
		}
	}
	v := byCode(phase, code)
	return v.reach, temporary || v.temporary
}

// A verdict is a reach, and whether the failure passes by itself even though
// the reply code says that it does not.
type verdict struct {
	reach     mail.Reach
	temporary bool
}

// byEnhanced decides by the subject and detail of an enhanced code, and reports
// whether they say enough.
func byEnhanced(phase mail.Phase, code, subject, detail int) (verdict, bool) {
	switch subject {
	case 1: // addressing
		// X.1.7 and X.1.8 are the sender's mailbox and system.
		if phase == mail.PhaseMail || detail == 7 || detail == 8 {
			return verdict{reach: mail.ReachSender}, true
		}
		return verdict{reach: mail.ReachRecipient}, true
	case 2: // mailbox
		return byMailbox(detail), true
	case 3: // mail system
		return bySystem(code, detail)
	case 4: // network and routing
		return byRouting(phase, detail)
	case 5: // protocol
		// X.5.3: too many recipients. With one recipient per transaction, it is
		// the server's count over many of ours.
		return verdict{reach: mail.ReachIntegration, temporary: true}, detail == 3
	case 6: // content
		return verdict{reach: mail.ReachMessage}, true
	case 7: // security and policy
		return byPolicy(phase, code, detail)
	}
	return verdict{}, false
}

func byMailbox(detail int) verdict {
	switch detail {
	case 2: // full, which its owner can mend: not permanent even as 552 5.2.2
		return verdict{reach: mail.ReachRecipient, temporary: true}
	case 3: // too long for this mailbox
		return verdict{reach: mail.ReachMessage}
	}
	return verdict{reach: mail.ReachRecipient}
}

func bySystem(code, detail int) (verdict, bool) {
	if detail == 4 { // too big for this system (RFC 1870)
		return verdict{reach: mail.ReachMessage}, true
	}
	// 5.3.0 is also what Sendmail says of an address on its black list.
	return verdict{reach: mail.ReachServer}, code/100 == 4
}

func byRouting(phase mail.Phase, detail int) (verdict, bool) {
	switch {
	case detail == 2: // bad connection: ours
		return verdict{reach: mail.ReachServer}, true
	case phase == mail.PhaseRcpt, phase == mail.PhaseDot:
		// No route, no host, a loop: on the way to the recipient's domain.
		return verdict{reach: mail.ReachRecipient}, true
	}
	return verdict{}, false
}

func byPolicy(phase mail.Phase, code, detail int) (verdict, bool) {
	switch {
	case isCredentials(code):
		return verdict{reach: mail.ReachIntegration}, true
	case detail >= 8 && detail <= 14: // credentials, encryption (RFC 4954, RFC 5248)
		return verdict{reach: mail.ReachIntegration}, true
	case detail >= 20 && detail <= 27 && detail != 25: // DKIM, SPF, DMARC, null MX (RFC 7372, RFC 7505)
		return verdict{reach: mail.ReachSender}, true
	case (code == 450 || code == 451) && phase != mail.PhaseMail && detail < 100:
		// Greylisting (RFC 6647), which is about one recipient, at RCPT or, by
		// content filters, at the dot. Details from 100 on are Exchange's own,
		// for throttling.
		return verdict{reach: mail.ReachRecipient}, true
	case code/100 == 4: // throttled
		return verdict{reach: mail.ReachIntegration}, true
	}
	switch phase {
	case mail.PhaseMail:
		return verdict{reach: mail.ReachSender}, true
	case mail.PhaseRcpt: // relaying denied, our address on a black list
		return verdict{reach: mail.ReachIntegration}, true
	}
	return verdict{}, false
}

// isCredentials reports the reply codes of RFC 4954 section 6: AUTH is needed,
// failed, too weak, or needs encryption first.
func isCredentials(code int) bool {
	return code == 530 || code == 534 || code == 535 || code == 538
}

// byCode decides where there is no enhanced code, or one that says nothing.
func byCode(phase mail.Phase, code int) verdict {
	switch {
	case code == 421: // the server is about to close (RFC 5321 section 3.8)
		return verdict{reach: mail.ReachServer}
	case isCredentials(code), code == 454, code == 432, code == 503, code == 555:
		// 454 is "not now" of STARTTLS and AUTH, and the throttle of some
		// relays; 432 wants another password; 555 refuses our parameters. 503
		// is about the order of commands, and what relays of the qmail family
		// say where AUTH should have come first.
		return verdict{reach: mail.ReachIntegration}
	}
	switch phase {
	case mail.PhaseGreeting:
		// A 554 at the greeting (RFC 5321 section 3.1) is the mood of a server,
		// or a block; it says nothing of the messages. Postfix, too, tries again.
		return verdict{reach: mail.ReachServer, temporary: true}
	case mail.PhaseHello, mail.PhaseTLS, mail.PhaseAuth:
		return byPreparation(code)
	case mail.PhaseMail:
		return byMail(code)
	case mail.PhaseRcpt:
		// 552 for too many recipients is temporary by RFC 5321 section
		// 4.5.3.1.10, and a full mailbox is so as well.
		return verdict{reach: mail.ReachRecipient, temporary: code == 552}
	}
	if code == 452 { // the server's disk is full
		return verdict{reach: mail.ReachServer}
	}
	return verdict{reach: mail.ReachMessage}
}

func byPreparation(code int) verdict {
	if code/100 == 4 {
		return verdict{reach: mail.ReachServer}
	}
	return verdict{reach: mail.ReachIntegration}
}

func byMail(code int) verdict {
	switch code {
	case 451, 452: // a local error, storage
		return verdict{reach: mail.ReachServer}
	case 552: // larger than SIZE allows (RFC 1870 section 6.1)
		return verdict{reach: mail.ReachMessage}
	}
	return verdict{reach: mail.ReachSender}
}

// enhancedPattern finds an enhanced code where servers put it: at the start of
// the text (RFC 2034), which some begin with "#", or in parentheses with "#" at
// its end.
var enhancedPattern = regexp.MustCompile(`(?:^|\n)#?([245]\.\d{1,3}\.\d{1,3})(?:[ \n:;,-]|$)|\(#([245]\.\d{1,3}\.\d{1,3})\)`)

// enhancedCode returns the enhanced code in the text of a reply; empty for
// none.
func enhancedCode(text string) string {
	found := enhancedPattern.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1] + found[2]
}

func parseEnhanced(enhanced string) (subject, detail int, ok bool) {
	parts := strings.Split(enhanced, ".")
	if len(parts) != 3 {
		return 0, 0, false
	}
	subject, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0, 0, false
	}
	detail, err = strconv.Atoi(parts[2])
	return subject, detail, err == nil
}
