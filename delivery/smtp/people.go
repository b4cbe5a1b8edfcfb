package smtp

import (
	netmail "net/mail"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail"
)

// people are the addresses of a message, checked, their domains in ASCII.
type people struct {
	from, to netmail.Address
	replyTo  *netmail.Address

	utf8Reach mail.Reach // see outgoing
}

// resolve checks the addresses of m, which end up in commands and headers.
func resolve(m *mail.Message) (people, error) {
	var p people
	var err error
	if p.from, err = resolveAddress(m.From); err != nil {
		return p, refuse(mail.ReachSender, "From", err)
	}
	if p.to, err = resolveAddress(m.To); err != nil {
		return p, refuse(mail.ReachRecipient, "To", err)
	}
	if m.ReplyTo != nil {
		replyTo, err := resolveAddress(*m.ReplyTo)
		if err != nil {
			return p, refuse(mail.ReachSender, "ReplyTo", err)
		}
		p.replyTo = &replyTo
	}
	switch {
	case !isASCII(p.from.Address), p.replyTo != nil && !isASCII(p.replyTo.Address):
		p.utf8Reach = mail.ReachSender
	case !isASCII(p.to.Address):
		p.utf8Reach = mail.ReachRecipient
	}
	return p, nil
}

func resolveAddress(a netmail.Address) (netmail.Address, error) {
	if err := mail.CheckAddress(a.Address); err != nil {
		return a, err
	}
	if err := checkLine(a.Name); err != nil {
		return a, err
	}
	at := strings.LastIndexByte(a.Address, '@')
	domain, err := mail.ASCIIDomain(a.Address[at+1:])
	a.Address = a.Address[:at+1] + domain
	return a, err
}
