package smtp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIntegrationNamesEveryFault(t *testing.T) {
	t.Parallel()
	err := Integration{Host: "mail.example.org:25", Port: 70000, TLS: 9, Username: "a\x00", HelloName: "a b",
		TLSServerName: "x\r\n"}.Validate()
	for _, field := range []string{"Host", "Port", "TLS:", "Username: and Password", "Username: holds", "HelloName", "TLSServerName"} {
		require.ErrorContains(t, err, "Integration."+field)
	}
	require.ErrorContains(t, Integration{}.Validate(), "Integration.Host: is empty")
	require.ErrorContains(t, Integration{Host: "x", Username: "a", Password: "b\r\n"}.Validate(), "Integration.Password")
	assert.NotContains(t, Integration{Password: "hunter2"}.Validate().Error(), "hunter2")
}

func TestIntegrationIsValid(t *testing.T) {
	t.Parallel()
	for _, in := range []Integration{
		{Host: "mail.example.org"},
		{Host: "192.0.2.1", Port: 2525, TLS: Plaintext},
		{Host: "2001:db8::1", TLS: ImplicitTLS, Username: "ana@example.org", Password: "contraseña 1"},
		{Host: "mail_1.internal", HelloName: "[IPv6:2001:db8::1]", TLSServerName: "mail.example.org"},
		{Host: "mail.example.org", HelloName: "[192.0.2.1]"},
	} {
		require.NoError(t, in.Validate(), "%+v", in)
	}
}

func TestPortFollowsThePolicy(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "mail.example.org:587", Integration{Host: "mail.example.org"}.address())
	assert.Equal(t, "mail.example.org:465", Integration{Host: "mail.example.org", TLS: ImplicitTLS}.address())
	assert.Equal(t, "mail.example.org:25", Integration{Host: "mail.example.org", TLS: Plaintext}.address())
	assert.Equal(t, "[2001:db8::1]:2525", Integration{Host: "2001:db8::1", Port: 2525}.address())
}

func TestSecretDoesNotPrint(t *testing.T) {
	t.Parallel()
	in := Integration{Host: "mail.example.org", Password: "hunter2"}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "integration", in, "password", in.Password)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "integration", in, "password", in.Password)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%t"} {
		fmt.Fprintf(&log, verb+verb, in.Password, in)
	}
	fmt.Fprint(&log, in, &in, in.Password.String())
	encoded, err := json.Marshal([]any{in.Password, in})
	require.NoError(t, err)
	log.Write(encoded)
	assert.NotContains(t, log.String(), "hunter2")
	assert.NotContains(t, log.String(), fmt.Sprintf("%x", "hunter2"))
	assert.Contains(t, log.String(), "[secret]")
	assert.Equal(t, "hunter2", string(in.Password))
}

func TestTLSPolicyWords(t *testing.T) {
	t.Parallel()
	for _, policy := range []TLSPolicy{RequireSTARTTLS, ImplicitTLS, Plaintext} {
		read, err := ParseTLSPolicy(policy.String())
		require.NoError(t, err)
		assert.Equal(t, policy, read)
	}
	for _, word := range []string{"", "TLS", "ssl", "starttls "} {
		_, err := ParseTLSPolicy(word)
		require.ErrorContains(t, err, "want starttls, tls or none")
	}
}
