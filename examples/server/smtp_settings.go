package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
)

// smtpSettings say through which server e-mails go out for real.
type smtpSettings struct {
	integration smtp.Integration // without a host: there is no such server
	from        string           // the sender of all e-mails; empty: each tenant's own
}

// real reports whether there is such a server.
func (s smtpSettings) real() bool { return s.integration.Host != "" }

// readSMTPSettings returns all faults at once, each with its variable.
func readSMTPSettings(getenv func(string) string) (smtpSettings, error) {
	s := smtpSettings{
		integration: smtp.Integration{
			Host:     getenv("SMTP_HOST"),
			Username: getenv("SMTP_USERNAME"),
			Password: smtp.Secret(getenv("SMTP_PASSWORD")),
		},
		from: getenv("SMTP_FROM"),
	}
	var faults []error
	if !s.real() {
		for _, name := range []string{"SMTP_PORT", "SMTP_TLS", "SMTP_USERNAME", "SMTP_PASSWORD", "SMTP_FROM"} {
			if getenv(name) != "" {
				faults = append(faults, fmt.Errorf("%s is set, and SMTP_HOST is not", name))
			}
		}
		return s, errors.Join(faults...)
	}
	if text := getenv("SMTP_PORT"); text != "" {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			faults = append(faults, fmt.Errorf("SMTP_PORT %q is no number from 1 to 65535", text))
		}
		s.integration.Port = int(port)
	}
	var err error
	if s.integration.TLS, err = smtp.ParseTLSPolicy(orDefault(getenv("SMTP_TLS"), "starttls")); err != nil {
		faults = append(faults, fmt.Errorf("SMTP_TLS: %w", err))
	}
	if s.from != "" && mail.CheckAddress(s.from) != nil {
		faults = append(faults, errors.New("SMTP_FROM is no e-mail address"))
	}
	if err := s.integration.Validate(); err != nil {
		faults = append(faults, fmt.Errorf("SMTP_HOST, SMTP_USERNAME, SMTP_PASSWORD: %w", err))
	}
	return s, errors.Join(faults...)
}
