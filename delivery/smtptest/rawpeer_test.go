package smtptest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

func startRaw(t *testing.T, script func(*smtptest.Conversation)) *smtptest.RawPeer {
	t.Helper()
	peer, err := smtptest.NewRawPeer(script)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, peer.Close()) })
	return peer
}

func TestRawPeerPlaysAnAgreeableServer(t *testing.T) {
	t.Parallel()
	peer := startRaw(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"8BITMIME", "SIZE 100000"}
		c.Serve()
	})
	client := dial(t, peer.Addr())
	require.NoError(t, send(client, "b@example.net"))
	require.NoError(t, client.Quit())
	require.NoError(t, peer.WaitForNoConnections(patience(t)))
	assert.Equal(t, []string{"EHLO localhost", "MAIL FROM:<a@example.org> BODY=8BITMIME", "RCPT TO:<b@example.net>",
		"DATA", "QUIT"}, peer.Commands())
	require.Len(t, peer.Data(), 1)
	assert.Equal(t, sample, string(peer.Data()[0]))
	require.NoError(t, peer.Err())
}

func TestRawPeerStopsAtEveryPhase(t *testing.T) {
	t.Parallel()
	for _, phase := range []smtptest.Phase{smtptest.Greeting, smtptest.Hello, smtptest.Mail, smtptest.Rcpt, smtptest.Data,
		smtptest.Body, smtptest.Dot} {
		t.Run(string(phase), func(t *testing.T) {
			t.Parallel()
			peer := startRaw(t, func(c *smtptest.Conversation) {
				c.Until(phase)
				c.Reply(fmt.Sprintf("421 4.3.2 stopped at %s", phase))
				c.Stall()
			})
			assertCode(t, 421, send(dial(t, peer.Addr()), "b@example.net"))
			require.NoError(t, peer.Err())
			if phase == smtptest.Dot {
				assert.Len(t, peer.Data(), 1)
			} else {
				assert.Empty(t, peer.Data())
			}
		})
	}
}

func TestRawPeerTellsWhatWasUnexpected(t *testing.T) {
	t.Parallel()
	peer := startRaw(t, func(c *smtptest.Conversation) {
		c.Reply("220 hello")
		c.Expect("EHLO")
	})
	conn, err := net.Dial("tcp", peer.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "NOOP\r\n")
	require.NoError(t, err)
	_, err = io.ReadAll(bufio.NewReader(conn)) // until the peer hangs up
	require.NoError(t, err)
	require.ErrorContains(t, peer.Err(), `connection 1: expected EHLO, got "NOOP"`)
}

func TestRawPeerExpectsTheEnd(t *testing.T) {
	t.Parallel()
	for said, fault := range map[string]string{"": "", "QUIT\r\n": `expected the end of the connection, got "QUIT"`} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			peer := startRaw(t, (*smtptest.Conversation).ExpectEnd)
			conn, err := net.Dial("tcp", peer.Addr())
			require.NoError(t, err)
			defer conn.Close()
			_, err = io.WriteString(conn, said)
			require.NoError(t, err)
			require.NoError(t, conn.(*net.TCPConn).CloseWrite())
			_, err = io.ReadAll(conn) // until the peer hangs up
			require.NoError(t, err)
			if fault == "" {
				require.NoError(t, peer.Err())
			} else {
				require.ErrorContains(t, peer.Err(), fault)
			}
		})
	}
}

func TestRawPeerClosesStalledAndFrozenConnections(t *testing.T) {
	t.Parallel()
	peer := startRaw(t, func(c *smtptest.Conversation) {
		if c.Number == 1 {
			c.Stall()
		}
		c.Freeze()
	})
	for range 2 {
		conn, err := net.Dial("tcp", peer.Addr())
		require.NoError(t, err)
		defer conn.Close()
	}
	require.NoError(t, peer.Close())
	require.NoError(t, peer.WaitForNoConnections(patience(t)))
	require.NoError(t, peer.Err())
}

func TestRawPeerReadsTheMessageThatItHasRefusedEarly(t *testing.T) {
	t.Parallel()
	peer := startRaw(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Body)
		c.Reply("552 5.3.4 I can see that it is too large")
		c.Serve()
	})
	client := dial(t, peer.Addr())
	assertCode(t, 552, send(client, "b@example.net"))
	require.NoError(t, send(client, "b@example.net"))
	require.NoError(t, client.Quit())
	assert.Len(t, peer.Data(), 2)
	require.NoError(t, peer.Err())
}

func TestRawPeerDropsConnections(t *testing.T) {
	t.Parallel()
	peer := startRaw(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Body)
		c.Data()
		if c.Number == 1 {
			c.Close()
		}
		c.Reset()
	})
	require.ErrorIs(t, send(dial(t, peer.Addr()), "b@example.net"), io.EOF)
	err := send(dial(t, peer.Addr()), "b@example.net")
	require.Error(t, err)
	require.NotErrorIs(t, err, io.EOF, "a reset is no orderly end")
	assert.Len(t, peer.Data(), 2)
	assert.Equal(t, 2, peer.Connections())
	require.NoError(t, peer.Err())
}

func TestRawPeerTellsWhereTheClientLeft(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]func(*smtptest.Conversation){
		"waiting for a command":      func(c *smtptest.Conversation) { c.Reply("220 x"); c.Command() },
		"waiting for the final dot":  func(c *smtptest.Conversation) { c.Reply("220 x"); c.Data() },
		"waiting for phase \"rcpt\"": func(c *smtptest.Conversation) { c.Until(smtptest.Rcpt) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := startRaw(t, script)
			conn, err := net.Dial("tcp", peer.Addr())
			require.NoError(t, err)
			_, err = bufio.NewReader(conn).ReadString('\n')
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			require.NoError(t, peer.WaitForNoConnections(patience(t)))
			require.NoError(t, peer.Close())
			require.ErrorContains(t, peer.Err(), name)
		})
	}
}
