package smtp

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
)

// A TLSPolicy says how a connection is encrypted.
type TLSPolicy int

// The TLS policies.
const (
	// RequireSTARTTLS upgrades the connection by STARTTLS (RFC 3207), and sends
	// nothing where the server does not offer it.
	RequireSTARTTLS TLSPolicy = iota
	// ImplicitTLS speaks TLS from the first byte (RFC 8314).
	ImplicitTLS
	// Plaintext does not encrypt. A password is then given to a loopback
	// address only.
	Plaintext
)

// policyWords are the policies as settings name them.
var policyWords = map[TLSPolicy]string{RequireSTARTTLS: "starttls", ImplicitTLS: "tls", Plaintext: "none"}

// ParseTLSPolicy reads the word for a policy in a host's settings: "starttls",
// "tls" or "none".
func ParseTLSPolicy(word string) (TLSPolicy, error) {
	for policy, known := range policyWords {
		if word == known {
			return policy, nil
		}
	}
	return 0, fmt.Errorf("smtp: %.20q is no TLS policy; want starttls, tls or none", word)
}

// String returns the word that [ParseTLSPolicy] reads.
func (p TLSPolicy) String() string { return policyWords[p] }

// An Integration is an SMTP server and how to use it, as a tenant configured
// it. Connections are shared between, and only between, integrations that are
// equal in every field.
type Integration struct {
	Host string // host name or IP address; required
	Port int    // 0 means 587, with ImplicitTLS 465, with Plaintext 25
	TLS  TLSPolicy

	// Username and Password are for AUTH PLAIN or LOGIN. Both are empty for a
	// server that asks for none.
	Username string
	Password Secret

	// HelloName is what the client calls itself in EHLO: a host name that
	// resolves to it. Empty means the address literal of the connection's own
	// end (RFC 5321 section 4.1.3), which every server must accept.
	HelloName string

	// TLSServerName is the name that the server's certificate must bear. Empty
	// means Host.
	TLSServerName string
	// RootCAs are the authorities to trust. Nil means those of the system.
	// Give the same pool each time; another one is another integration.
	RootCAs *x509.CertPool

	// Version is anything that changes when the settings do, such as the time
	// of their last change: connections made under another version are not
	// used again, even if what changed is not visible here.
	Version string
}

// Validate returns all that is wrong with the integration, joined; nil if it
// can be tried.
func (in Integration) Validate() error {
	var faults []error
	fault := func(field, problem string) {
		faults = append(faults, fmt.Errorf("smtp: Integration.%s: %s", field, problem))
	}
	switch {
	case in.Host == "":
		fault("Host", "is empty")
	case !isHost(in.Host):
		fault("Host", "is neither a host name nor an IP address; a port goes to Port")
	}
	if in.Port < 0 || in.Port > 65535 {
		fault("Port", "must be from 0 to 65535")
	}
	if in.TLS < RequireSTARTTLS || in.TLS > Plaintext {
		fault("TLS", "unknown policy")
	}
	if (in.Username == "") != (in.Password == "") {
		fault("Username", "and Password go together; one of them is empty")
	}
	// A NUL would move the border between user name and password (RFC 4616).
	if strings.ContainsFunc(in.Username, unicode.IsControl) {
		fault("Username", "holds a control character")
	}
	if strings.ContainsFunc(string(in.Password), unicode.IsControl) {
		fault("Password", "holds a control character")
	}
	if in.HelloName != "" && !isHost(strings.TrimSuffix(strings.TrimPrefix(in.HelloName, "["), "]")) {
		fault("HelloName", "is neither a host name nor an address literal")
	}
	if in.TLSServerName != "" && !isHost(in.TLSServerName) {
		fault("TLSServerName", "is neither a host name nor an IP address")
	}
	return errors.Join(faults...)
}

// isHost reports whether host can be a host name (in ASCII) or an IP address.
func isHost(host string) bool {
	if net.ParseIP(strings.TrimPrefix(host, "IPv6:")) != nil {
		return true
	}
	return host != "" && !strings.ContainsFunc(host, func(r rune) bool {
		return !(r == '.' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z')
	})
}

// address returns host and port to dial.
func (in Integration) address() string {
	port := in.Port
	if port == 0 {
		port = map[TLSPolicy]int{RequireSTARTTLS: 587, ImplicitTLS: 465, Plaintext: 25}[in.TLS]
	}
	return net.JoinHostPort(in.Host, strconv.Itoa(port))
}

// certificateName returns the name that the server's certificate must bear.
func (in Integration) certificateName() string {
	if in.TLSServerName != "" {
		return in.TLSServerName
	}
	return in.Host
}

// Integrations finds the integration of a tenant. The host implements it.
type Integrations interface {
	// Integration is called for every message, so it should answer from memory
	// where it can. A tenant that has no integration is an error marked by
	// retry.Permanent; any other error is taken for one that passes.
	Integration(ctx context.Context, tenant string) (Integration, error)
}

// IntegrationsFunc is a function that implements [Integrations].
type IntegrationsFunc func(ctx context.Context, tenant string) (Integration, error)

// Integration calls f.
func (f IntegrationsFunc) Integration(ctx context.Context, tenant string) (Integration, error) {
	return f(ctx, tenant)
}

// Single returns Integrations that give every tenant the same one.
func Single(in Integration) Integrations {
	return IntegrationsFunc(func(context.Context, string) (Integration, error) { return in, nil })
}
