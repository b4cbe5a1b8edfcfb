package main

import (
	"context"
	"fmt"

	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

// keptMessages is how many e-mails /inbox shows.
const keptMessages = 200

// openMailServer starts a sink, unless the settings name a server that sends
// for real, in which case the sink is nil. It says in words where e-mails go.
func openMailServer(s *smtpSettings, started *teardown) (sink *smtptest.Server, where string, err error) {
	if s.real() {
		return nil, fmt.Sprintf("sent for real by %s", s.integration.Host), nil
	}
	sink, err = smtptest.NewServer(smtptest.Config{Keep: keptMessages})
	if err != nil {
		return nil, "", err
	}
	started.add("SMTP sink", func(context.Context) error { return sink.Close() })
	s.integration = smtp.Integration{Host: "127.0.0.1", Port: sink.Port(), TLS: smtp.Plaintext}
	return sink, "kept by a server on " + sink.Addr() + ", to be read at /inbox", nil
}
