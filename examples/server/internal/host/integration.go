package host

import (
	"context"
	"errors"

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
	own.TLS, err = smtp.ParseTLSPolicy(tls)
	return own, err
}
