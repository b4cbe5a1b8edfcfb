package smtptest_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

const sample = "From: <a@example.org>\r\nTo: <b@example.net>\r\nSubject: =?utf-8?q?Hola_se=C3=B1ora?=\r\n" +
	"Message-ID: <1@example.org>\r\nContent-Type: multipart/mixed; boundary=\"x\"\r\n\r\n" +
	"--x\r\nContent-Type: multipart/alternative; boundary=\"y\"\r\n\r\n" +
	"--y\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n.dot first\r\n" +
	"--y\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>dot</p>\r\n--y--\r\n" +
	"--x\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename=\"a.pdf\"\r\n" +
	"Content-Transfer-Encoding: base64\r\n\r\nUERG\r\n--x--\r\n"

func start(t *testing.T, config smtptest.Config) *smtptest.Server {
	t.Helper()
	server, err := smtptest.NewServer(config)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	return server
}

func dial(t *testing.T, addr string) *smtp.Client {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	client := smtp.NewClient(conn)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func send(c *smtp.Client, to string) error {
	return c.SendMail("a@example.org", []string{to}, strings.NewReader(sample))
}

func TestServerKeepsWhatItAccepts(t *testing.T) {
	t.Parallel()
	server := start(t, smtptest.Config{})
	require.NoError(t, send(dial(t, server.Addr()), "b@example.net"))

	messages, err := server.WaitForMessages(patience(t), 1)
	require.NoError(t, err)
	require.Len(t, messages, 1)
	m := messages[0]
	assert.Equal(t, 1, m.Number)
	assert.Equal(t, "a@example.org", m.From)
	assert.Equal(t, []string{"b@example.net"}, m.To)
	assert.Equal(t, sample, string(m.Data))
	assert.False(t, m.Received.IsZero())
	assert.Equal(t, "Hola señora", m.Subject())
	assert.Equal(t, "1@example.org", m.MessageID())
	assert.Equal(t, 1, server.Copies("1@example.org"))
	assert.Equal(t, 1, server.Connections())

	parsed, err := m.Parse()
	require.NoError(t, err)
	assert.Equal(t, "Hola señora", parsed.Subject)
	assert.Equal(t, ".dot first", parsed.Text)
	assert.Equal(t, "<p>dot</p>", parsed.HTML)
	assert.Equal(t, []smtptest.Attachment{{Name: "a.pdf", ContentType: "application/pdf", Content: []byte("PDF")}},
		parsed.Attachments)
}

func TestServerForgetsTheOldest(t *testing.T) {
	t.Parallel()
	server := start(t, smtptest.Config{Keep: 2})
	client := dial(t, server.Addr())
	for range 3 {
		require.NoError(t, send(client, "b@example.net"))
	}
	messages := server.Messages()
	require.Len(t, messages, 2)
	assert.Equal(t, 2, messages[0].Number)
	assert.Equal(t, 3, server.Accepted())
	_, found := server.Message(1)
	assert.False(t, found)
	_, found = server.Message(3)
	assert.True(t, found)
}

func TestServerSpeaksTLS(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]smtptest.TLSMode{"starttls": smtptest.StartTLS, "implicit": smtptest.ImplicitTLS} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, smtptest.Config{TLS: mode, Hosts: []string{"mail.example.org"}})
			config := &tls.Config{RootCAs: server.RootCAs(), ServerName: "mail.example.org"}
			dialer := smtp.DialStartTLS
			if mode == smtptest.ImplicitTLS {
				dialer = smtp.DialTLS
			}
			client, err := dialer(server.Addr(), config)
			require.NoError(t, err)
			defer client.Close()
			require.NoError(t, send(client, "b@example.net"))
			assert.True(t, server.Messages()[0].TLS)
		})
	}
}

func TestServerAuthenticates(t *testing.T) {
	t.Parallel()
	mechanisms := map[string]func(user, password string) sasl.Client{
		"PLAIN": func(u, p string) sasl.Client { return sasl.NewPlainClient("", u, p) },
		"LOGIN": sasl.NewLoginClient,
	}
	for name, mechanism := range mechanisms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, smtptest.Config{Username: "ana", Password: "secret", RequireAuth: true})
			client := dial(t, server.Addr())
			assertCode(t, 530, send(client, "b@example.net"))
			require.NoError(t, client.Auth(mechanism("ana", "secret")))
			require.NoError(t, send(client, "b@example.net"))
			assert.Equal(t, "ana", server.Messages()[0].Username)

			assertCode(t, 535, dial(t, server.Addr()).Auth(mechanism("ana", "wrong")))
		})
	}
}

func assertCode(t *testing.T, code int, err error) {
	t.Helper()
	var reply *smtp.SMTPError
	require.ErrorAs(t, err, &reply)
	assert.Equal(t, code, reply.Code)
}

func TestRulesReplyByPhaseRecipientAndCount(t *testing.T) {
	t.Parallel()
	server := start(t, smtptest.Config{Rules: []smtptest.Rule{
		{At: smtptest.Rcpt, Recipient: "gone@example.net", Reply: smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "gone"}},
		{At: smtptest.Dot, Skip: 1, Times: 1, Reply: smtptest.Reply{Code: 451, Text: "later"}},
	}})
	client := dial(t, server.Addr())

	err := send(client, "gone@example.net")
	assertCode(t, 550, err)
	var reply *smtp.SMTPError
	require.ErrorAs(t, err, &reply)
	assert.Equal(t, smtp.EnhancedCode{5, 1, 1}, reply.EnhancedCode)

	require.NoError(t, client.Reset())
	require.NoError(t, send(client, "b@example.net"), "the first dot is skipped")
	assertCode(t, 451, send(client, "b@example.net"))
	require.NoError(t, send(client, "b@example.net"), "the rule applied once")
	assert.Equal(t, 2, server.Accepted(), "a refused message is not accepted")
}

func TestHeldDotHasTakenTheMessage(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	server := start(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Dot, Hold: hold}}})
	client := dial(t, server.Addr())
	result := make(chan error, 1)
	go func() { result <- send(client, "b@example.net") }()

	<-hold.Reached()
	assert.Equal(t, 1, server.Accepted())
	select {
	case err := <-result:
		t.Fatalf("the reply was not withheld: %v", err)
	default:
	}
	hold.Release()
	require.NoError(t, <-result)
}

func TestDroppedDotHasTakenTheMessage(t *testing.T) {
	t.Parallel()
	server := start(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Dot, Drop: true}}})
	require.ErrorIs(t, send(dial(t, server.Addr()), "b@example.net"), io.EOF)
	assert.Equal(t, 1, server.Accepted())
	require.NoError(t, server.WaitForNoConnections(patience(t)))
}

func TestCloseReleasesHolds(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	server := start(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Mail, Hold: hold}}})
	client := dial(t, server.Addr())
	result := make(chan error, 1)
	go func() { result <- send(client, "b@example.net") }()
	<-hold.Reached()
	require.NoError(t, server.Close())
	require.Error(t, <-result)
}

func TestNewServerNamesEveryFault(t *testing.T) {
	t.Parallel()
	_, err := smtptest.NewServer(smtptest.Config{
		TLS: 9, Keep: -1, MaxMessageBytes: -1, RequireAuth: true, Mechanisms: []string{"CRAM-MD5"},
		Rules: []smtptest.Rule{
			{At: smtptest.Data}, {At: smtptest.Dot, Reply: smtptest.Reply{Code: 250}, Skip: -1},
			{At: smtptest.Dot, Reply: smtptest.Reply{Code: 550, Enhanced: "5.x.1"}},
		},
	})
	for _, name := range []string{"TLS", "Keep", "MaxMessageBytes", "RequireAuth", "Mechanisms", "Rules[0]: At",
		"Rules[1]: Skip", "Reply.Code", "Rules[2]: Reply.Enhanced"} {
		require.ErrorContains(t, err, name)
	}
}

func TestRulesCanBeReplaced(t *testing.T) {
	t.Parallel()
	server := start(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Mail, Reply: smtptest.Reply{Code: 451, Text: "later"}}}})
	client := dial(t, server.Addr())
	assertCode(t, 451, send(client, "b@example.net"))
	require.NoError(t, server.SetRules())
	require.NoError(t, send(client, "b@example.net"))
	require.ErrorContains(t, server.SetRules(smtptest.Rule{At: smtptest.Greeting}), "rule 0: At")
}

func TestOpenConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	server := start(t, smtptest.Config{})
	client := dial(t, server.Addr())
	require.NoError(t, client.Noop())
	assert.Equal(t, 1, server.OpenConnections())
	require.NoError(t, client.Quit())
	require.NoError(t, server.WaitForNoConnections(patience(t)))
	assert.Zero(t, server.OpenConnections())
	assert.Equal(t, 1, server.Connections())
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	server := start(t, smtptest.Config{})
	require.NoError(t, dial(t, server.Addr()).Noop())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := server.WaitForMessages(ended, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, server.WaitForNoConnections(ended), context.Canceled)
}

func TestMessageLimitIsEnforced(t *testing.T) {
	t.Parallel()
	server := start(t, smtptest.Config{MaxMessageBytes: 100})
	client := dial(t, server.Addr())
	assertCode(t, 552, send(client, "b@example.net"))
	assert.Zero(t, server.Accepted())
	size, ok := client.MaxMessageSize()
	assert.True(t, ok)
	assert.Equal(t, 100, size)
}

func TestParseLeavesOtherCharsetsAlone(t *testing.T) {
	t.Parallel()
	parsed, err := smtptest.Message{Data: []byte("Subject: x\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\n\xf1\r\n")}.Parse()
	require.NoError(t, err)
	assert.Equal(t, "\xf1\r\n", parsed.Text)

	_, err = smtptest.Message{Number: 3, Data: []byte(" no header\r\n")}.Parse()
	require.ErrorContains(t, err, "parse message 3")
}
