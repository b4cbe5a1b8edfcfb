package smtp

import (
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

func encrypted(server *smtptest.Server, policy TLSPolicy) Integration {
	return Integration{Host: "127.0.0.1", Port: server.Port(), TLS: policy, RootCAs: server.RootCAs()}
}

func TestSendOverTLS(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy TLSPolicy
		mode   smtptest.TLSMode
	}{
		"STARTTLS": {RequireSTARTTLS, smtptest.StartTLS},
		"implicit": {ImplicitTLS, smtptest.ImplicitTLS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, smtptest.Config{TLS: test.mode})
			transport := newTransport(t, encrypted(server, test.policy), nil)
			for range 3 {
				_, err := transport.Send(patience(t), newMessage(), nil)
				require.NoError(t, err)
			}
			for _, m := range server.Messages() {
				assert.True(t, m.TLS)
				assert.Equal(t, "[127.0.0.1]", m.Hello)
			}
			assert.Equal(t, 1, server.Connections())
		})
	}
}

func TestSTARTTLSNotOffered(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, (*smtptest.Conversation).Serve)
	in := plain(peer.Port())
	in.TLS = RequireSTARTTLS
	in.Username, in.Password = "robot", "hunter2"
	_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
	require.ErrorContains(t, err, "does not offer STARTTLS")
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseTLS, failure.Phase)
	assert.Equal(t, mail.ReachIntegration, failure.Reach)
	assert.False(t, failure.Temporary)
	require.NoError(t, peer.WaitForNoConnections(patience(t)))
	assert.Equal(t, []string{"EHLO [127.0.0.1]"}, peer.Commands(), "and nothing else is said in the clear")
}

func TestCertificateIsVerified(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Integration)
		reason string
	}{
		"another host": {func(in *Integration) { in.TLSServerName = "mail.example.org" },
			"certificate is valid for localhost, not mail.example.org"},
		"unknown authority": {func(in *Integration) { in.RootCAs = x509.NewCertPool() }, "unknown authority"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, smtptest.Config{TLS: smtptest.StartTLS})
			in := encrypted(server, RequireSTARTTLS)
			test.change(&in)
			_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
			require.ErrorContains(t, err, test.reason)
			failure := failureOf(t, err)
			assert.Equal(t, mail.PhaseTLS, failure.Phase)
			assert.Equal(t, mail.ReachIntegration, failure.Reach)
			assert.False(t, failure.Temporary)
			assert.Zero(t, server.Accepted())
		})
	}
}

func TestImplicitTLSOnAPortWithoutIt(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Reply("220 plaintext here")
		c.Stall()
	})
	in := plain(peer.Port())
	in.TLS = ImplicitTLS
	_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
	require.ErrorContains(t, err, "does not speak TLS from the first byte")
	assert.Equal(t, mail.ReachIntegration, failureOf(t, err).Reach)
	assert.False(t, failureOf(t, err).Temporary)
}

// A server that is too busy may refuse before it speaks TLS: the set-up is right.
func TestRefusalBeforeImplicitTLS(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Reply("421 too many concurrent connections")
		c.Stall()
	})
	in := plain(peer.Port())
	in.TLS = ImplicitTLS
	_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
	failure := failureOf(t, err)
	assert.Equal(t, 421, failure.Code)
	assert.Equal(t, mail.ReachServer, failure.Reach)
	assert.True(t, failure.Temporary)
}

func TestSilentHandshake(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"STARTTLS"}
		c.Until(smtptest.STARTTLS)
		c.Reply("220 go on")
		c.Stall()
	})
	in := plain(peer.Port())
	in.TLS = RequireSTARTTLS
	_, err := newTransport(t, in, func(c *Config) { c.Timeouts.TLS = 50 * time.Millisecond }).Send(patience(t), newMessage(), nil)
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseTLS, failure.Phase)
	assert.Equal(t, mail.ReachServer, failure.Reach)
	assert.True(t, failure.Temporary)
}

func TestBytesInjectedBehindSTARTTLS(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"STARTTLS"}
		c.Until(smtptest.STARTTLS)
		c.Write("220 go on\r\n250-injected\r\n250 AUTH PLAIN\r\n")
		c.Stall()
	})
	in := plain(peer.Port())
	in.TLS = RequireSTARTTLS
	_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
	require.ErrorIs(t, err, errInjected)
	assert.Equal(t, mail.PhaseTLS, failureOf(t, err).Phase)
}

func TestHelloNameIsAnAddressLiteral(t *testing.T) {
	t.Parallel()
	for literal, ip := range map[string]string{
		"[192.0.2.1]":             "192.0.2.1",
		"[IPv6:2001:db8::1]":      "2001:db8::1",
		"[192.0.2.7]":             "::ffff:192.0.2.7",
		"[IPv6:fe80::1]":          "fe80::1",
		"[IPv6:2001:db8::1:2:3]":  "2001:db8:0:0:0:1:2:3",
		"[198.51.100.7]":          "198.51.100.7",
		"[IPv6:::1]":              "::1",
		"[IPv6:2001:db8::ff:0:1]": "2001:db8::00ff:0:1",
	} {
		assert.Equal(t, literal, helloName("", &net.TCPAddr{IP: net.ParseIP(ip), Zone: "eth0"}))
	}
	assert.Equal(t, "app.example.org", helloName("app.example.org", &net.TCPAddr{IP: net.ParseIP("192.0.2.1")}))
}
