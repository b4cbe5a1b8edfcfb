package diagnosis

import (
	"errors"
	"regexp"

	"github.com/buzon-go/buzon/delivery/mail"
)

// A Diagnosis is what came of a message. The zero Diagnosis is read as one with
// the cause [Other].
type Diagnosis struct {
	Cause Cause
	// Code is the server's reply code, such as 550; 0 where it is not known.
	Code int
	// Enhanced is the server's enhanced status code (RFC 3463), such as
	// "5.1.1"; empty for none.
	Enhanced string
	// Server are the server's own words, on one line of at most 200
	// characters, without e-mail addresses and secrets; empty for none.
	Server string
}

// OfError explains what [mail.Sender.Send] returned. A nil error is [Accepted].
// An error that neither is nor wraps a *mail.SendError is [Other], whatever it
// wraps: nobody knows that it was about the server.
func OfError(err error) Diagnosis {
	if err == nil {
		return Diagnosis{Cause: Accepted}
	}
	failure, ok := errors.AsType[*mail.SendError](err)
	if !ok || failure == nil {
		return Diagnosis{Cause: Other}
	}
	said := replyOf(failure)
	d := Diagnosis{Code: said.code, Enhanced: said.enhanced, Server: said.quoted()}
	switch {
	case failure.Certainty == mail.Unknown:
		d.Cause = OutcomeUnknown
	case said.code != 0:
		d.Cause = said.cause()
	default:
		d.Cause = withoutReply(failure)
	}
	return d
}

// OfReceipt explains a success, with what the server said: the id that it gave
// the message helps to find it there.
func OfReceipt(r mail.Receipt) Diagnosis {
	found := leadingCode.FindStringSubmatch(r.Response)
	if found == nil {
		return Diagnosis{Cause: Accepted, Server: quote(r.Response)}
	}
	return Diagnosis{Cause: Accepted, Enhanced: found[1], Server: quote(found[2])}
}

// leadingCode takes the enhanced code off a positive reply (RFC 2034).
var leadingCode = regexp.MustCompile(`(?s)^(2\.\d{1,3}\.\d{1,3})(?:\s(.*))?$`)
