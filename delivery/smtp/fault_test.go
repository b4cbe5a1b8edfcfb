package smtp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

// phases are where a peer can misbehave, and the phase that a Send should
// report then.
var phases = []struct {
	peer smtptest.Phase
	send mail.Phase
}{
	{smtptest.Greeting, mail.PhaseGreeting},
	{smtptest.Hello, mail.PhaseHello},
	{smtptest.STARTTLS, mail.PhaseTLS},
	{smtptest.Auth, mail.PhaseAuth},
	{smtptest.Mail, mail.PhaseMail},
	{smtptest.Rcpt, mail.PhaseRcpt},
	{smtptest.Data, mail.PhaseData},
	{smtptest.Body, mail.PhaseBody},
	{smtptest.Dot, mail.PhaseDot},
}

// faults are the ways to misbehave, and what is certain when that is all that
// comes after a whole message.
var faults = []struct {
	name   string
	commit func(*smtptest.Conversation)
	sent   bool
	atDot  mail.Certainty
	code   int
}{
	{name: "silence", commit: (*smtptest.Conversation).Stall, atDot: mail.Unknown},
	{name: "close", commit: (*smtptest.Conversation).Close, atDot: mail.Unknown},
	{name: "TCP reset", commit: (*smtptest.Conversation).Reset, atDot: mail.Unknown},
	{name: "garbage", commit: func(c *smtptest.Conversation) { c.Reply("what?"); c.Stall() }, atDot: mail.Unknown},
	{name: "half a reply", commit: func(c *smtptest.Conversation) { c.Write("250 ta"); c.Close() }, atDot: mail.Unknown},
	{name: "half of many lines", commit: func(c *smtptest.Conversation) { c.Write("250-one\r\n"); c.Close() }, atDot: mail.Unknown},
	{name: "endless reply", commit: func(c *smtptest.Conversation) {
		for {
			c.Write("250-and another line\r\n")
		}
	}, atDot: mail.Unknown},
	{name: "1yz", commit: func(c *smtptest.Conversation) { c.Reply("150 wait"); c.Stall() }, atDot: mail.Unknown, code: 150},
	{name: "other 3yz", commit: func(c *smtptest.Conversation) { c.Reply("399 more"); c.Stall() }, atDot: mail.Unknown, code: 399},
	{name: "6yz", commit: func(c *smtptest.Conversation) { c.Reply("650 never heard"); c.Stall() }, atDot: mail.Unknown, code: 650},
	{name: "421 and close", commit: func(c *smtptest.Conversation) { c.Reply("421 4.3.2 bye"); c.Close() }, atDot: mail.NotAccepted, code: 421},
	{name: "421 and silence", commit: func(c *smtptest.Conversation) { c.Reply("421 bye"); c.Stall() }, atDot: mail.NotAccepted, code: 421},
	{name: "450", commit: func(c *smtptest.Conversation) { c.Reply("450 later"); c.Serve() }, atDot: mail.NotAccepted, code: 450},
	{name: "554 in two lines", commit: func(c *smtptest.Conversation) { c.Reply("554-5.0.0 no", "554 5.0.0 never"); c.Serve() },
		atDot: mail.NotAccepted, code: 554},
	{name: "554 in pieces", commit: func(c *smtptest.Conversation) { c.Write("55"); c.Write("4 n"); c.Write("o\r\n"); c.Serve() },
		atDot: mail.NotAccepted, code: 554},
}

// hasty gives up soon on a peer that keeps silent at one phase.
func hasty(at smtptest.Phase, limit time.Duration) func(*Config) {
	return func(c *Config) {
		t := &c.Timeouts
		*map[smtptest.Phase]*time.Duration{
			smtptest.Greeting: &t.Greeting, smtptest.Hello: &t.Hello, smtptest.STARTTLS: &t.TLS, smtptest.Auth: &t.Auth,
			smtptest.Mail: &t.Mail, smtptest.Rcpt: &t.Rcpt, smtptest.Data: &t.Data, smtptest.Body: &t.Dot, smtptest.Dot: &t.Dot,
		}[at] = limit
	}
}

// TestFaultAtEveryPhase plays every fault at every phase and compares what Send
// says with what the peer has.
func TestFaultAtEveryPhase(t *testing.T) {
	t.Parallel()
	for _, phase := range phases {
		for _, fault := range faults {
			for _, pipelining := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/pipelining %v", phase.peer, fault.name, pipelining), func(t *testing.T) {
					t.Parallel()
					var change func(*Config)
					if fault.name == "silence" {
						change = hasty(phase.peer, 50*time.Millisecond)
					}
					peer := startPeer(t, func(c *smtptest.Conversation) {
						c.Extensions = extensions(phase.peer, pipelining)
						c.Until(phase.peer)
						fault.commit(c)
					})
					transport := newTransport(t, integrationFor(phase.peer, peer.Port()), change)
					var held commits
					_, err := transport.Send(patience(t), newMessage(), held.commit)
					failure := failureOf(t, err)

					switch {
					case phase.peer == smtptest.Dot:
						require.Len(t, peer.Data(), 1)
						assert.Equal(t, fault.atDot, failure.Certainty)
						assert.Equal(t, 1, held.calls)
					case phase.peer == smtptest.Body:
						// Whether the dot was handed to the kernel before the
						// fault was noticed is a matter of luck; commit comes
						// before it.
						if failure.Certainty == mail.Unknown {
							assert.Equal(t, 1, held.calls)
						}
						return
					default:
						require.Empty(t, peer.Data())
						assert.Equal(t, mail.NotAccepted, failure.Certainty)
						assert.Zero(t, held.calls)
					}
					if phase.peer == smtptest.Greeting && failure.Phase == mail.PhaseDial {
						return // noticed at once
					}
					assert.Equal(t, phase.send, failure.Phase)
					assert.Equal(t, fault.code, failure.Code)
				})
			}
		}
	}
}

func extensions(at smtptest.Phase, pipelining bool) []string {
	offered := map[smtptest.Phase][]string{smtptest.STARTTLS: {"STARTTLS"}, smtptest.Auth: {"AUTH PLAIN"}}[at]
	if pipelining {
		offered = append(offered, "PIPELINING")
	}
	return offered
}

func integrationFor(at smtptest.Phase, port int) Integration {
	in := plain(port)
	switch at {
	case smtptest.STARTTLS:
		in.TLS = RequireSTARTTLS
	case smtptest.Auth:
		in.Username, in.Password = "robot", "hunter2"
	}
	return in
}

// TestCancelAtEveryPhase cancels while a silent peer is waited for.
func TestCancelAtEveryPhase(t *testing.T) {
	t.Parallel()
	for _, phase := range phases {
		t.Run(string(phase.peer), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancelCause(patience(t))
			defer cancel(nil)
			shutdown := errors.New("shutting down")
			peer := startPeer(t, func(c *smtptest.Conversation) {
				c.Extensions = extensions(phase.peer, false)
				c.Until(phase.peer)
				if phase.peer == smtptest.Body {
					c.Data()
				}
				cancel(shutdown)
				c.Stall()
			})
			transport := newTransport(t, integrationFor(phase.peer, peer.Port()),
				func(c *Config) { c.ReplyGrace = 50 * time.Millisecond })
			_, err := transport.Send(ctx, newMessage(), nil)
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, shutdown)
			failure := failureOf(t, err)
			assert.Equal(t, mail.ReachMessage, failure.Reach, "a cancelled message says nothing of the server")
			assert.True(t, failure.Temporary)
			if len(peer.Data()) > 0 {
				assert.Equal(t, mail.Unknown, failure.Certainty)
				assert.Equal(t, mail.PhaseDot, failure.Phase)
			} else {
				assert.Equal(t, mail.NotAccepted, failure.Certainty)
				if phase.peer != smtptest.Greeting || failure.Phase != mail.PhaseDial {
					assert.Equal(t, phase.send, failure.Phase)
				}
			}
			require.NoError(t, peer.WaitForNoConnections(patience(t)))
		})
	}
}

func TestCancelDuringCommitWritesNoDot(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), nil)
	ctx, cancel := context.WithCancel(patience(t))
	_, err := transport.Send(ctx, newMessage(), func(context.Context) error {
		cancel()
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, mail.NotAccepted, failureOf(t, err).Certainty)
	require.NoError(t, server.WaitForNoConnections(patience(t)))
	assert.Zero(t, server.Accepted())
}

// TestCancelAroundTheDot lets cancellations fall right before, on and after the
// dot: each Send knows what became of its message.
func TestCancelAroundTheDot(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), nil)
	sent := 0
	for range 300 {
		ctx, cancel := context.WithCancel(patience(t))
		var canceller sync.WaitGroup
		_, err := transport.Send(ctx, newMessage(), func(context.Context) error {
			canceller.Go(cancel)
			return nil
		})
		canceller.Wait()
		if err == nil {
			sent++
		} else {
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, mail.NotAccepted, failureOf(t, err).Certainty)
		}
		require.Equal(t, sent, server.Accepted())
		_, err = transport.Send(patience(t), newMessage(), nil)
		require.NoError(t, err, "the next message is not hurried")
		sent++
	}
}

func TestReplyWithinTheGraceIsASuccess(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	server := startServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Dot, Hold: hold}}})
	transport := newTransport(t, plain(server.Port()), nil)
	ctx, cancel := context.WithCancel(patience(t))
	result := make(chan error, 1)
	go func() {
		_, err := transport.Send(ctx, newMessage(), nil)
		result <- err
	}()
	<-hold.Reached()
	cancel()
	hold.Release()
	require.NoError(t, <-result)
	assert.Equal(t, 1, server.Accepted())

	_, err := transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	assert.Equal(t, 1, server.Connections(), "the connection is still good")
}

func TestWithheldReplyIsUnknown(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	server := startServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Dot, Hold: hold}}})
	transport := newTransport(t, plain(server.Port()), func(c *Config) { c.Timeouts.Dot = 50 * time.Millisecond })
	_, err := transport.Send(patience(t), newMessage(), nil)
	failure := failureOf(t, err)
	assert.Equal(t, mail.Unknown, failure.Certainty)
	assert.Equal(t, mail.PhaseDot, failure.Phase)
	require.ErrorContains(t, err, "no reply within 50ms")
	assert.Equal(t, 1, server.Accepted())
	hold.Release()
	require.NoError(t, server.WaitForNoConnections(patience(t)), "what may still be said there would answer the next message")
}

func TestServerThatStopsReading(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Body)
		c.Freeze()
	})
	transport := newTransport(t, plain(peer.Port()), func(c *Config) { c.Timeouts.Block = 200 * time.Millisecond })
	m := newMessage()
	m.Attachments = []mail.Attachment{{Name: "big.bin", Content: make([]byte, 12<<20)}} // more than sockets hold
	var held commits
	_, err := transport.Send(patience(t), m, held.commit)
	require.ErrorContains(t, err, "stopped taking the message for 200ms")
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseBody, failure.Phase)
	assert.Equal(t, mail.NotAccepted, failure.Certainty)
	assert.True(t, failure.Temporary)
	assert.Zero(t, held.calls)
}

func TestAnyPositiveReplyToTheDotIsASuccess(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ reply, response string }{
		"usual":         {"250 2.0.0 taken as 77\r\n", "2.0.0 taken as 77"},
		"bare":          {"250\r\n", ""},
		"another":       {"251 2.1.5 will forward\r\n", "2.1.5 will forward"},
		"many lines":    {"250-2.0.0 one\r\n250 2.0.0 two\r\n", "2.0.0 one 2.0.0 two"},
		"not ASCII":     {"250 acept\xf3 \x00 todo\r\n", "acept\uFFFD   todo"},
		"LF alone":      {"250 taken\n", "taken"},
		"very long":     {"250 " + fmt.Sprintf("%03000d", 7) + "\r\n", fmt.Sprintf("%0500d", 0)},
		"more than due": {"250 taken\r\n421 bye\r\n", "taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := startPeer(t, func(c *smtptest.Conversation) {
				c.Until(smtptest.Dot)
				c.Write(test.reply)
				c.Serve()
			})
			transport := newTransport(t, plain(peer.Port()), func(c *Config) { c.MaxMessagesPerConnection = 1 })
			receipt, err := transport.Send(patience(t), newMessage(), nil)
			require.NoError(t, err)
			assert.Equal(t, test.response, receipt.Response)
		})
	}
}

// What a server does after its 250 changes nothing.
func TestNothingAfterThe250Matters(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Dot)
		c.Reply("250 taken")
		c.Reset()
	})
	transport := newTransport(t, plain(peer.Port()), func(c *Config) { c.MaxMessagesPerConnection = 1 })
	for range 3 {
		_, err := transport.Send(patience(t), newMessage(), nil)
		require.NoError(t, err)
	}
}

func TestConnectionRefused(t *testing.T) {
	t.Parallel()
	peer, err := smtptest.NewRawPeer((*smtptest.Conversation).Serve)
	require.NoError(t, err)
	require.NoError(t, peer.Close())
	_, err = newTransport(t, plain(peer.Port()), nil).Send(patience(t), newMessage(), nil)
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseDial, failure.Phase)
	assert.Equal(t, mail.ReachServer, failure.Reach)
	assert.True(t, failure.Temporary)
}

func TestHostThatDoesNotExist(t *testing.T) {
	t.Parallel()
	in := Integration{Host: "smtp.invalid"} // never resolves (RFC 6761 section 6.4)
	_, err := newTransport(t, in, nil).Send(patience(t), newMessage(), nil)
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseDial, failure.Phase)
	assert.True(t, failure.Temporary)
}

func TestUnknownHostReachesTheIntegration(t *testing.T) {
	t.Parallel()
	s := &session{phase: mail.PhaseDial}
	unknown := &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "smtp.invalid", IsNotFound: true}}
	failure := failureOf(t, s.failure(t.Context(), unknown, 0))
	assert.Equal(t, mail.ReachIntegration, failure.Reach)
	assert.True(t, failure.Temporary, "a name server may be wrong for a while")
}

// A server that says 421 to the dot is left at once, without another word.
func TestConnectionIsLeftAfter421(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Dot)
		c.Reply("421 4.3.2 shutting down")
		c.ExpectEnd()
	})
	_, err := newTransport(t, plain(peer.Port()), nil).Send(patience(t), newMessage(), nil)
	assert.Equal(t, mail.NotAccepted, failureOf(t, err).Certainty)
	require.NoError(t, peer.WaitForNoConnections(patience(t)))
}

func TestServerWithoutEHLOIsSpokenToWithHELO(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Hello)
		c.Reply("502 what is EHLO")
		c.Expect("HELO [127.0.0.1]")
		c.Reply("250 hello")
		c.Serve()
	})
	_, err := newTransport(t, plain(peer.Port()), nil).Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
}

// A 250 that was sent ahead must not pass for the reply to the dot.
func TestReplyBeforeItsTimeIsNotBelieved(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Data)
		c.Reply("354 go on", "250 taken, I promise")
		c.Stall()
	})
	var held commits
	_, err := newTransport(t, plain(peer.Port()), nil).Send(patience(t), newMessage(), held.commit)
	require.ErrorIs(t, err, errOutOfStep)
	assert.Equal(t, mail.NotAccepted, failureOf(t, err).Certainty)
	assert.Zero(t, held.calls)
}

// A deadline that ends the wait for a silent server counts against the server,
// one that was too short does not.
func TestReachOfASendThatRanOutOfTime(t *testing.T) {
	t.Parallel()
	expired, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		ctx     context.Context
		phase   mail.Phase
		elapsed time.Duration
		reach   mail.Reach
	}{
		{expired, mail.PhaseGreeting, silence, mail.ReachServer},
		{expired, mail.PhaseMail, time.Hour, mail.ReachServer},
		{expired, mail.PhaseRcpt, time.Hour, mail.ReachMessage},
		{expired, mail.PhaseGreeting, silence - 1, mail.ReachMessage},
		{cancelled, mail.PhaseGreeting, time.Hour, mail.ReachMessage},
	} {
		s := &session{phase: test.phase}
		failure := failureOf(t, s.failure(test.ctx, net.ErrClosed, test.elapsed))
		assert.Equal(t, test.reach, failure.Reach)
		assert.True(t, failure.Temporary)
	}
}
