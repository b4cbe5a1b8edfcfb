package smtp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/retry"
)

func TestSendTransmitsTheComposedBytes(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), nil)
	m := newMessage()
	var held commits
	receipt, err := transport.Send(patience(t), m, func(ctx context.Context) error {
		assert.Zero(t, server.Accepted(), "commit comes before the dot")
		return held.commit(ctx)
	})
	require.NoError(t, err)
	assert.Equal(t, "2.0.0 OK: queued", receipt.Response)
	assert.Equal(t, 1, held.calls)

	messages := server.Messages()
	require.Len(t, messages, 1)
	composed, err := Compose(m)
	require.NoError(t, err)
	assert.Equal(t, string(composed), string(messages[0].Data))
	assert.Equal(t, "club@example.org", messages[0].From)
	assert.Equal(t, []string{"ana@example.net"}, messages[0].To)
	assert.Equal(t, "[127.0.0.1]", messages[0].Hello)
}

func TestSendNeedsNoCommit(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	_, err := newTransport(t, plain(server.Port()), nil).Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	assert.Equal(t, 1, server.Accepted())
}

// What the server gets is what was composed, whatever lines begin and end with.
func TestDotsArriveAsTheyWere(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), nil)
	pieces := []string{".", "..", "\n", "\r\n", "\r", ".\n", "\n.\n", "\r\n.\r\n", "a", "ñ", "=", " ", "\t",
		strings.Repeat("x", 75) + ".", strings.Repeat("y", 1200)}
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		m := newMessage()
		m.Text = "."
		for range random.IntN(12) {
			m.Text += pieces[random.IntN(len(pieces))]
		}
		if i%3 == 0 {
			m.HTML = m.Text
		}
		composed, err := Compose(m)
		require.NoError(t, err)
		_, err = transport.Send(patience(t), m, nil)
		require.NoError(t, err)
		got := server.Messages()[i]
		require.Equal(t, string(composed), string(got.Data), "text %q", m.Text)
		parsed, err := got.Parse()
		require.NoError(t, err)
		require.Equal(t, crlf(m.Text), parsed.Text)
	}
}

func TestRepliesAreReported(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		at        smtptest.Phase
		reply     smtptest.Reply
		phase     mail.Phase
		reach     mail.Reach
		temporary bool
	}{
		{smtptest.Mail, smtptest.Reply{Code: 550, Enhanced: "5.7.1", Text: "not you"}, mail.PhaseMail, mail.ReachSender, false},
		{smtptest.Rcpt, smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "<ana@example.net> unknown"}, mail.PhaseRcpt, mail.ReachRecipient, false},
		{smtptest.Rcpt, smtptest.Reply{Code: 451, Text: "later"}, mail.PhaseRcpt, mail.ReachRecipient, true},
		{smtptest.Dot, smtptest.Reply{Code: 554, Enhanced: "5.6.0", Text: "no"}, mail.PhaseDot, mail.ReachMessage, false},
		{smtptest.Dot, smtptest.Reply{Code: 452, Enhanced: "4.3.1", Text: "full\nreally"}, mail.PhaseDot, mail.ReachServer, true},
	} {
		t.Run(fmt.Sprint(test.at, test.reply.Code), func(t *testing.T) {
			t.Parallel()
			server := startServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: test.at, Times: 1, Reply: test.reply}}})
			transport := newTransport(t, plain(server.Port()), nil)

			_, err := transport.Send(patience(t), newMessage(), nil)
			failure := failureOf(t, err)
			assert.Equal(t, test.phase, failure.Phase)
			assert.Equal(t, test.reply.Code, failure.Code)
			assert.Equal(t, test.reply.Enhanced, failure.Enhanced)
			assert.Equal(t, test.reach, failure.Reach)
			assert.Equal(t, test.temporary, failure.Temporary)
			assert.Equal(t, mail.NotAccepted, failure.Certainty)
			assert.Zero(t, server.Accepted())

			_, err = transport.Send(patience(t), newMessage(), nil)
			require.NoError(t, err, "the next message passes")
			assert.Equal(t, 1, server.Accepted())
			assert.Equal(t, 1, server.Connections(), "a refusal does not cost the connection")
		})
	}
}

func TestRefusedTransactionIsResetOnceAndWithoutEHLO(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Rcpt)
		c.Reply("550 5.1.1 unknown")
		c.Serve()
	})
	transport := newTransport(t, plain(peer.Port()), nil)
	_, err := transport.Send(patience(t), newMessage(), nil)
	require.Equal(t, 550, failureOf(t, err).Code)
	for range 2 {
		_, err = transport.Send(patience(t), newMessage(), nil)
		require.NoError(t, err)
	}
	transaction := []string{"MAIL FROM:<club@example.org>", "RCPT TO:<ana@example.net>", "DATA"}
	want := append([]string{"EHLO [127.0.0.1]"}, transaction[:2]...)
	want = append(want, "RSET")
	want = append(append(want, transaction...), transaction...)
	assert.Equal(t, want, peer.Commands())
}

func TestEnvelopeInOneBreath(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"PIPELINING"}
		c.Until(smtptest.Mail) // and not a word before all of it is there
		c.Expect("RCPT TO:<ana@example.net>")
		c.Expect("DATA")
		c.Reply("250 sender fine", "250 recipient fine", "354 go on")
		c.Data()
		c.Serve()
	})
	_, err := newTransport(t, plain(peer.Port()), nil).Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	assert.Len(t, peer.Data(), 1)
}

func TestRefusalInOneBreathIsReadToItsEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		replies []string
		phase   mail.Phase
		code    int
		reused  bool
	}{
		"sender":                    {[]string{"550 no", "503 no sender", "503 no recipient"}, mail.PhaseMail, 550, true},
		"recipient":                 {[]string{"250 yes", "551 no", "554 no recipient"}, mail.PhaseRcpt, 551, true},
		"data":                      {[]string{"250 yes", "250 yes", "451 no"}, mail.PhaseData, 451, true},
		"recipient, but not data":   {[]string{"250 yes", "551 no", "354 go on"}, mail.PhaseRcpt, 551, false},
		"sender, but not recipient": {[]string{"550 no", "250 yes", "354 go on"}, mail.PhaseMail, 550, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := startPeer(t, func(c *smtptest.Conversation) {
				c.Extensions = []string{"PIPELINING"}
				if c.Number == 1 {
					c.Until(smtptest.Mail)
					c.Expect("RCPT")
					c.Expect("DATA")
					c.Reply(test.replies...)
					if !test.reused {
						c.ExpectEnd() // anything said would be data
					}
				}
				c.Serve()
			})
			transport := newTransport(t, plain(peer.Port()), nil)
			_, err := transport.Send(patience(t), newMessage(), nil)
			failure := failureOf(t, err)
			assert.Equal(t, test.phase, failure.Phase)
			assert.Equal(t, test.code, failure.Code)

			_, err = transport.Send(patience(t), newMessage(), nil)
			require.NoError(t, err)
			assert.Len(t, peer.Data(), 1)
			assert.Equal(t, test.reused, peer.Connections() == 1)
		})
	}
}

func TestCommitErrorLeavesNoMessage(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), nil)
	lost := errors.New("the lease is lost")
	_, err := transport.Send(patience(t), newMessage(), func(context.Context) error { return lost })
	require.ErrorIs(t, err, lost)
	failure := failureOf(t, err)
	assert.Equal(t, mail.NotAccepted, failure.Certainty)
	assert.Equal(t, mail.ReachMessage, failure.Reach)
	assert.True(t, failure.Temporary)
	require.NoError(t, server.WaitForNoConnections(patience(t)), "the connection is closed without the dot")
	assert.Zero(t, server.Accepted())
}

func TestPanicOfCommitLeavesNoMessageAndNoConnection(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), func(c *Config) { c.MaxConnections = 1 })
	assert.PanicsWithValue(t, "boom", func() {
		_, _ = transport.Send(patience(t), newMessage(), func(context.Context) error { panic("boom") })
	})
	assert.Zero(t, testutil.ToFloat64(transport.metrics.open), "the connection is closed")
	require.NoError(t, server.WaitForNoConnections(patience(t)))
	assert.Zero(t, server.Accepted())
	_, err := transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err, "the slot is free again")
}

func TestMessageTooLargeIsNotTransmitted(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"SIZE 1000"}
		c.Serve()
	})
	transport := newTransport(t, plain(peer.Port()), nil)
	m := newMessage()
	m.Text = strings.Repeat("x", 1000)
	_, err := transport.Send(patience(t), m, nil)
	require.ErrorContains(t, err, "the server takes at most 1000")
	failure := failureOf(t, err)
	assert.Equal(t, mail.ReachMessage, failure.Reach)
	assert.False(t, failure.Temporary)

	_, err = transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	assert.Equal(t, 1, peer.Connections())
	composed, err := Compose(newMessage())
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("MAIL FROM:<club@example.org> SIZE=%d", len(composed)), peer.Commands()[1])
}

func TestNonASCIILocalPartNeedsSMTPUTF8(t *testing.T) {
	t.Parallel()
	for _, offered := range []bool{true, false} {
		t.Run(fmt.Sprintf("offered %v", offered), func(t *testing.T) {
			t.Parallel()
			server := startServer(t, smtptest.Config{SMTPUTF8: offered})
			transport := newTransport(t, plain(server.Port()), nil)
			m := newMessage()
			m.To.Address = "josé@correo.example"
			_, err := transport.Send(patience(t), m, nil)
			if offered {
				require.NoError(t, err)
				assert.True(t, server.Messages()[0].UTF8)
				assert.Equal(t, []string{"josé@correo.example"}, server.Messages()[0].To)
				return
			}
			require.ErrorContains(t, err, "SMTPUTF8")
			failure := failureOf(t, err)
			assert.Equal(t, mail.ReachRecipient, failure.Reach)
			assert.False(t, failure.Temporary)
			assert.Equal(t, mail.PhaseMail, failure.Phase)
		})
	}
}

func TestInternationalDomainGoesOutInASCII(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{SMTPUTF8: true})
	transport := newTransport(t, plain(server.Port()), nil)
	m := newMessage()
	m.To.Address = "ana@España.example"
	_, err := transport.Send(patience(t), m, nil)
	require.NoError(t, err)
	assert.Equal(t, []string{"ana@xn--espaa-rta.example"}, server.Messages()[0].To)
	assert.False(t, server.Messages()[0].UTF8)
}

func TestIntegrationOfTenantIsMissing(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err       error
		temporary bool
	}{
		"not found":   {retry.Permanent(errors.New("no such tenant")), false},
		"unreachable": {errors.New("database away"), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transport, err := New(Config{Integrations: IntegrationsFunc(
				func(_ context.Context, tenant string) (Integration, error) {
					assert.Equal(t, "acme", tenant)
					return Integration{}, test.err
				})})
			require.NoError(t, err)
			_, err = transport.Send(patience(t), newMessage(), nil)
			require.ErrorIs(t, err, test.err)
			failure := failureOf(t, err)
			assert.Equal(t, mail.PhaseCompose, failure.Phase)
			assert.Equal(t, mail.ReachIntegration, failure.Reach)
			assert.Equal(t, test.temporary, failure.Temporary)
		})
	}
}

func TestInvalidIntegrationReachesTheIntegration(t *testing.T) {
	t.Parallel()
	transport := newTransport(t, Integration{Port: -1}, nil)
	_, err := transport.Send(patience(t), newMessage(), nil)
	require.ErrorContains(t, err, "Integration.Host")
	require.ErrorContains(t, err, "Integration.Port")
	failure := failureOf(t, err)
	assert.Equal(t, mail.ReachIntegration, failure.Reach)
	assert.False(t, failure.Temporary)
}

func TestBadMessageIsRefusedBeforeAnythingIsDialled(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), nil)
	m := newMessage()
	m.Subject = "x\r\nBcc: eve@example.com"
	_, err := transport.Send(patience(t), m, nil)
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseCompose, failure.Phase)
	assert.Equal(t, mail.ReachMessage, failure.Reach)
	assert.Zero(t, server.Connections())
}

func TestLogHoldsNoSecretAndNoAddress(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{Username: "robot", Password: "hunter2"})
	in := plain(server.Port())
	in.Username, in.Password = "robot", "hunter2"
	var log bytes.Buffer
	transport, err := New(Config{
		Integrations: Single(in),
		Logger:       slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	require.NoError(t, err)
	_, err = transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	require.NoError(t, transport.Close(patience(t)))
	assert.Contains(t, log.String(), "connection opened")
	assert.Contains(t, log.String(), "connection closed")
	for _, hidden := range []string{"hunter2", "ana@", "club@", "robot"} {
		assert.NotContains(t, log.String(), hidden)
	}
}

func TestNewNamesEveryFault(t *testing.T) {
	t.Parallel()
	_, err := New(Config{
		Timeouts:       Timeouts{Dial: -1, Greeting: -1, Hello: -1, TLS: -1, Auth: -1, Mail: -1, Rcpt: -1, Data: -1, Block: -1, Dot: -1},
		MaxConnections: -1, IdleTimeout: -1, MaxMessagesPerConnection: -1, ReplyGrace: -1,
	})
	for _, name := range []string{"Integrations", "Dial", "Greeting", "Hello", "TLS", "Auth", "Mail", "Rcpt", "Data", "Block",
		"Dot", "MaxConnections", "IdleTimeout", "MaxMessagesPerConnection", "ReplyGrace"} {
		require.ErrorContains(t, err, name)
	}
}

func TestDefaultsAreTheMinimaOfRFC5321(t *testing.T) {
	t.Parallel()
	config := Config{}.withDefaults()
	assert.Equal(t, Timeouts{
		Dial: 30 * time.Second, Greeting: 5 * time.Minute, Hello: 5 * time.Minute, TLS: time.Minute, Auth: 2 * time.Minute,
		Mail: 5 * time.Minute, Rcpt: 5 * time.Minute, Data: 2 * time.Minute, Block: 3 * time.Minute, Dot: 10 * time.Minute,
	}, config.Timeouts)
	assert.Equal(t, 8, config.MaxConnections)
	assert.Equal(t, 8*time.Second, config.IdleTimeout)
	assert.Equal(t, 100, config.MaxMessagesPerConnection)
	assert.Equal(t, 5*time.Second, config.ReplyGrace)
}
