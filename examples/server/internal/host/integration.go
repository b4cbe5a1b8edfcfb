package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/retry"
)

// Integration implements smtp.Integrations: the tenant's own SMTP server or,
// where it has none, that of the server's settings. It is asked for every
// e-mail, so a host with more of them than this one remembers the answers for
// some seconds.
func (h *Host) Integration(ctx context.Context, tenantCode string) (smtp.Integration, error) {
	var own smtp.Integration
	var tls, password string
	err := found(h.pool.QueryRow(ctx, `
		SELECT smtp_host, smtp_port, smtp_tls, smtp_username, smtp_password
		FROM sample_host.tenants WHERE code = $1`, tenantCode).
		Scan(&own.Host, &own.Port, &tls, &own.Username, &password))
	switch {
	case errors.Is(err, notify.ErrNotFound):
		return smtp.Integration{}, retry.Permanent(err)
	case err != nil:
		return smtp.Integration{}, err
	case own.Host == "":
		return h.mail, nil
	}
	own.Password = smtp.Secret(password)
	own.TLS, err = ParseTLS(tls)
	return own, err
}

// ParseTLS reads the word for a TLS policy, in the table and in the
// environment: "starttls", "tls" or "none".
func ParseTLS(word string) (smtp.TLSPolicy, error) {
	switch word {
	case "starttls":
		return smtp.RequireSTARTTLS, nil
	case "tls":
		return smtp.ImplicitTLS, nil
	case "none":
		return smtp.Plaintext, nil
	}
	return 0, fmt.Errorf("%.20q is no TLS policy; want starttls, tls or none", word)
}
