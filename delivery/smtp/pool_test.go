package smtp

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

func TestHundredMessagesOverReusedConnections(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), func(c *Config) { c.MaxMessagesPerConnection = 25 })
	for range 100 {
		_, err := transport.Send(patience(t), newMessage(), nil)
		require.NoError(t, err)
	}
	assert.Equal(t, 100, server.Accepted())
	assert.Equal(t, 4, server.Connections())
}

func TestManySendersShareFewConnections(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, plain(server.Port()), func(c *Config) { c.MaxConnections = 3 })
	var senders sync.WaitGroup
	for range 20 {
		senders.Go(func() {
			for range 10 {
				_, err := transport.Send(patience(t), newMessage(), nil)
				assert.NoError(t, err)
			}
		})
	}
	senders.Wait()
	assert.Equal(t, 200, server.Accepted())
	assert.LessOrEqual(t, server.Connections(), 3+1, "200 messages, 100 to a connection")
	require.NoError(t, transport.Close(patience(t)))
	require.NoError(t, server.WaitForNoConnections(patience(t)))
}

// The second message meets, on the connection of the first, a server that is
// done with it.
func TestDeadReusedConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	for _, phase := range []smtptest.Phase{smtptest.Mail, smtptest.Rcpt, smtptest.Data} {
		for name, fault := range map[string]func(*smtptest.Conversation){
			"421":       func(c *smtptest.Conversation) { c.Reply("421 4.7.0 too many messages"); c.Close() },
			"close":     (*smtptest.Conversation).Close,
			"TCP reset": (*smtptest.Conversation).Reset,
			"silence":   (*smtptest.Conversation).Stall,
		} {
			t.Run(fmt.Sprintf("%s/%s", phase, name), func(t *testing.T) {
				t.Parallel()
				peer := startPeer(t, func(c *smtptest.Conversation) {
					if c.Number == 1 {
						c.Until(smtptest.Dot)
						c.Reply("250 taken")
						c.Until(phase)
						fault(c)
					}
					c.Serve()
				})
				var change func(*Config)
				if name == "silence" {
					change = hasty(phase, 2*time.Second) // which the second connection must keep
				}
				transport := newTransport(t, plain(peer.Port()), change)
				var held commits
				for range 2 {
					_, err := transport.Send(patience(t), newMessage(), held.commit)
					require.NoError(t, err)
				}
				assert.Len(t, peer.Data(), 2, "one copy each")
				assert.Equal(t, 2, held.calls, "one commit each")
				assert.Equal(t, 2, peer.Connections())
			})
		}
	}
}

// A server that says 421, or as some do 451, while the connection is idle is
// heard at MAIL.
func TestConnectionClosedWhileIdleIsReplaced(t *testing.T) {
	t.Parallel()
	for _, goodbye := range []string{"421 4.4.2 idle for too long", "451 4.7.0 timeout waiting for client input"} {
		t.Run(goodbye[:3], func(t *testing.T) {
			t.Parallel()
			closed := make(chan struct{})
			peer := startPeer(t, func(c *smtptest.Conversation) {
				if c.Number == 1 {
					defer close(closed)
					c.Until(smtptest.Dot)
					c.Reply("250 taken")
					c.Reply(goodbye)
					c.Close()
				}
				c.Serve()
			})
			transport := newTransport(t, plain(peer.Port()), nil)
			_, err := transport.Send(patience(t), newMessage(), nil)
			require.NoError(t, err)
			<-closed
			_, err = transport.Send(patience(t), newMessage(), nil)
			require.NoError(t, err)
			assert.Equal(t, 2, peer.Connections())
		})
	}
}

// A connection that is being closed counts until it is: a server with a limit
// counts it too.
func TestClosingConnectionKeepsItsSlot(t *testing.T) {
	t.Parallel()
	asked, goOn := make(chan struct{}), make(chan struct{})
	peer := startPeer(t, func(c *smtptest.Conversation) {
		if c.Number == 1 {
			c.Until(smtptest.Dot)
			c.Reply("250 taken")
			c.Expect("QUIT")
			close(asked)
			<-goOn
			c.Reply("221 bye")
			return
		}
		c.Serve()
	})
	transport := newTransport(t, plain(peer.Port()), func(c *Config) { c.MaxConnections, c.MaxMessagesPerConnection = 1, 1 })
	_, err := transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	<-asked
	hurried, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = transport.Send(hurried, newMessage(), nil)
	require.ErrorContains(t, err, "waiting for a free connection")
	assert.Equal(t, 1, peer.Connections())
	close(goOn)
	_, err = transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	assert.Equal(t, 2, peer.Connections())
}

// A server that has had enough of a message says why before it closes.
func TestRefusalDuringTheBodyIsHeard(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Body)
		c.Command() // the message's first line
		c.Reply("552 5.3.4 too big")
		c.Freeze()
	})
	transport := newTransport(t, plain(peer.Port()), func(c *Config) { c.Timeouts.Block = time.Second })
	large := newMessage()
	large.Attachments = []mail.Attachment{{Name: "a.bin", Content: make([]byte, 16<<20)}} // more than the buffers between hold
	_, err := transport.Send(patience(t), large, nil)
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseBody, failure.Phase)
	assert.Equal(t, 552, failure.Code)
	assert.Equal(t, mail.NotAccepted, failure.Certainty)
	assert.False(t, failure.Temporary)
}

func TestFailureOfAFreshConnectionIsNotRetried(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		if c.Number == 1 {
			c.Until(smtptest.Dot)
			c.Reply("250 taken")
		}
		c.Until(smtptest.Mail)
		c.Reply("421 4.3.2 shutting down")
		c.Close()
	})
	transport := newTransport(t, plain(peer.Port()), nil)
	_, err := transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	_, err = transport.Send(patience(t), newMessage(), nil)
	failure := failureOf(t, err)
	assert.Equal(t, 421, failure.Code)
	assert.Equal(t, mail.ReachServer, failure.Reach)
	assert.Equal(t, 2, peer.Connections(), "once more, not again and again")
}

// From the 354 on, a connection that breaks is the message's own failure.
func TestBodyIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Dot)
		c.Reply("250 taken")
		c.Until(smtptest.Dot)
		c.Close()
	})
	transport := newTransport(t, plain(peer.Port()), nil)
	_, err := transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	_, err = transport.Send(patience(t), newMessage(), nil)
	assert.Equal(t, mail.Unknown, failureOf(t, err).Certainty)
	assert.Equal(t, 1, peer.Connections())
	assert.Len(t, peer.Data(), 2)
}

func TestIdleConnectionIsClosedWithQUIT(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, (*smtptest.Conversation).Serve)
	transport := newTransport(t, plain(peer.Port()), func(c *Config) { c.IdleTimeout = 10 * time.Millisecond })
	_, err := transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	require.NoError(t, peer.WaitForNoConnections(patience(t)))
	assert.Equal(t, "QUIT", peer.Commands()[len(peer.Commands())-1])
}

func TestServerLimitOfMessagesIsObeyed(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"LIMITS RCPTMAX=10 MAILMAX=2"}
		c.Serve()
	})
	transport := newTransport(t, plain(peer.Port()), nil)
	for range 5 {
		_, err := transport.Send(patience(t), newMessage(), nil)
		require.NoError(t, err)
	}
	assert.Equal(t, 3, peer.Connections())
}

func TestChangedIntegrationGetsConnectionsOfItsOwn(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	in := plain(server.Port())
	transport, err := New(Config{Integrations: IntegrationsFunc(
		func(context.Context, string) (Integration, error) { return in, nil })})
	require.NoError(t, err)
	for version, connections := range []int{1, 2, 2} {
		in.Version = fmt.Sprint(min(version, 1))
		_, err := transport.Send(patience(t), newMessage(), nil)
		require.NoError(t, err)
		assert.Equal(t, connections, server.Connections())
	}
	require.NoError(t, transport.Close(patience(t)))
}

func TestWaitingForAConnectionEndsWithTheContext(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	server := startServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Mail, Times: 1, Hold: hold}}})
	transport := newTransport(t, plain(server.Port()), func(c *Config) { c.MaxConnections = 1 })
	result := make(chan error, 1)
	go func() {
		_, err := transport.Send(patience(t), newMessage(), nil)
		result <- err
	}()
	<-hold.Reached()

	ctx, cancel := context.WithTimeout(patience(t), 10*time.Millisecond)
	defer cancel()
	_, err := transport.Send(ctx, newMessage(), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	failure := failureOf(t, err)
	assert.Equal(t, mail.PhaseDial, failure.Phase)
	assert.Equal(t, mail.ReachMessage, failure.Reach)
	assert.True(t, failure.Temporary)

	hold.Release()
	require.NoError(t, <-result)
	assert.Equal(t, 1, server.Connections())
}

func TestCloseWaitsForSendsAndRefusesNewOnes(t *testing.T) {
	t.Parallel()
	hold := smtptest.NewHold()
	server := startServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Dot, Skip: 1, Hold: hold}}})
	transport := newTransport(t, plain(server.Port()), nil)
	_, err := transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() {
		_, err := transport.Send(patience(t), newMessage(), nil)
		result <- err
	}()
	<-hold.Reached()

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, transport.Close(ended), context.Canceled, "a Send is going on")
	_, err = transport.Send(patience(t), newMessage(), nil)
	require.ErrorIs(t, err, ErrClosed)
	assert.True(t, failureOf(t, err).Temporary)

	hold.Release()
	require.NoError(t, transport.Close(patience(t)))
	require.NoError(t, <-result)
	require.NoError(t, server.WaitForNoConnections(patience(t)))
}

// A reply too many leaves the next message out of step: it answers the next
// MAIL, and so on, until DATA gets the 250 that was RCPT's.
func TestConnectionOutOfStepIsReplaced(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]func(*smtptest.Conversation){
		"at once": func(c *smtptest.Conversation) {
			c.Reply("250 taken", "250 really")
			c.ExpectEnd()
		},
		"later": func(c *smtptest.Conversation) {
			c.Reply("250 taken")
			c.Until(smtptest.Mail)
			c.Reply("250 I forgot to say", "250 fine")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := startPeer(t, func(c *smtptest.Conversation) {
				if c.Number == 1 {
					c.Until(smtptest.Dot)
					script(c)
				}
				c.Serve()
			})
			transport := newTransport(t, plain(peer.Port()), nil)
			for range 2 {
				_, err := transport.Send(patience(t), newMessage(), nil)
				require.NoError(t, err)
			}
			assert.Len(t, peer.Data(), 2)
			assert.Equal(t, 2, peer.Connections())
		})
	}
}
