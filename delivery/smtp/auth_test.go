package smtp

import (
	"encoding/base64"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

func TestAuthentication(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mechanisms []string
		password   Secret
	}{
		"PLAIN":                {[]string{"PLAIN"}, "hunter2"},
		"LOGIN":                {[]string{"LOGIN"}, "hunter2"},
		"both":                 {nil, "hunter2"},
		"wrong password":       {nil, "hunter3"},
		"wrong password LOGIN": {[]string{"LOGIN"}, "hunter3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, smtptest.Config{TLS: smtptest.StartTLS, Username: "robot", Password: "hunter2",
				RequireAuth: true, Mechanisms: test.mechanisms})
			in := encrypted(server, RequireSTARTTLS)
			in.Username, in.Password = "robot", test.password
			_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
			if test.password == "hunter2" {
				require.NoError(t, err)
				assert.Equal(t, "robot", server.Messages()[0].Username)
				return
			}
			failure := failureOf(t, err)
			assert.Equal(t, mail.PhaseAuth, failure.Phase)
			assert.Equal(t, 535, failure.Code)
			assert.Equal(t, "5.7.8", failure.Enhanced)
			assert.Equal(t, mail.ReachIntegration, failure.Reach)
			assert.False(t, failure.Temporary)
		})
	}
}

// distant is a connection whose peer is another machine.
type distant struct{ net.Conn }

func (distant) RemoteAddr() net.Addr { return &net.TCPAddr{IP: net.ParseIP("192.0.2.1"), Port: 25} }

func TestPasswordIsNotSentInClearToAnotherMachine(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe() // nobody reads: a byte that is sent is waited for
	defer there.Close()
	in := plain(25)
	in.Username, in.Password = "robot", "hunter2"
	s := &session{integration: in, wire: newWire(distant{here}, time.Millisecond, func() {})}
	defer s.wire.cut()
	err := s.authenticate()
	require.ErrorIs(t, err, errPasswordInClear)
	failure := failureOf(t, s.fail(t.Context(), err))
	assert.Equal(t, mail.PhaseAuth, failure.Phase)
	assert.Equal(t, mail.ReachIntegration, failure.Reach)
	assert.False(t, failure.Temporary)
}

// Servers ask in words of their own, and refuse an initial response.
func TestLoginIgnoresTheWordsOfTheChallenge(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"AUTH CRAM-MD5 LOGIN"}
		c.Until(smtptest.Auth)
		c.Reply("334 " + base64.StdEncoding.EncodeToString([]byte("User Name\x00")))
		c.Expect(base64.StdEncoding.EncodeToString([]byte("robot")))
		c.Reply("334")
		c.Expect(base64.StdEncoding.EncodeToString([]byte("hunter2")))
		c.Reply("235 welcome")
		c.Serve()
	})
	in := plain(peer.Port())
	in.Username, in.Password = "robot", "hunter2"
	_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	assert.Contains(t, peer.Commands(), "AUTH LOGIN")
}

func TestNoKnownMechanism(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"AUTH CRAM-MD5"}
		c.Serve()
	})
	in := plain(peer.Port())
	in.Username, in.Password = "robot", "hunter2"
	_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
	require.ErrorIs(t, err, errNoMechanism)
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseAuth, failure.Phase)
	assert.Equal(t, mail.ReachIntegration, failure.Reach)
	assert.False(t, failure.Temporary)
}

func TestPasswordStaysAwayFromPlaintext(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		encrypted bool
		peer      string
		may       bool
	}{
		{true, "192.0.2.1", true},
		{false, "192.0.2.1", false},
		{false, "10.0.0.1", false},
		{false, "::", false},
		{false, "127.0.0.1", true},
		{false, "127.8.9.10", true},
		{false, "::1", true},
		{false, "::ffff:127.0.0.1", true},
		{false, "::ffff:192.0.2.1", false},
	} {
		assert.Equal(t, test.may, mayAuthenticate(test.encrypted, &net.TCPAddr{IP: net.ParseIP(test.peer)}), "%+v", test)
	}
	assert.False(t, mayAuthenticate(false, &net.UnixAddr{Name: "/tmp/socket", Net: "unix"}))
}

func TestEchoedCredentialsAreTakenOut(t *testing.T) {
	t.Parallel()
	encoded := base64.StdEncoding.EncodeToString([]byte("\x00robot\x00hunter2"))
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"AUTH PLAIN"}
		c.Until(smtptest.Auth)
		c.Reply("535 5.7.8 cannot make sense of " + encoded + " hunter2 " + base64.StdEncoding.EncodeToString([]byte("hunter2")))
		c.Stall()
	})
	in := plain(peer.Port())
	in.Username, in.Password = "robot", "hunter2"
	_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
	assert.Equal(t, "smtp: auth: 535 5.7.8 cannot make sense of [secret] [secret] [secret]", err.Error())
}

// A long credential may come back cut with the line that it stood in.
func TestCutCredentialsAreTakenOut(t *testing.T) {
	t.Parallel()
	in := Integration{Username: "robot", Password: Secret(strings.Repeat("token", 200))}
	for _, secret := range []string{encodePlain(in), encodeBase64(string(in.Password)), string(in.Password)} {
		text := withoutCredentials("cannot make sense of "+secret[:400], in)
		assert.Equal(t, "cannot make sense of [secret]", text)
	}
	assert.Equal(t, "try token", withoutCredentials("try token", in), "a short word says nothing")
}
