package smtp

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

// said is a connection on which the server has said all of its text.
type said struct {
	net.Conn
	text *strings.Reader
}

func (s said) Read(b []byte) (int, error) { return s.text.Read(b) }

func spoken(text string) *replies { return newReplies(said{text: strings.NewReader(text)}) }

func TestEachReadGivesOneLine(t *testing.T) {
	t.Parallel()
	r := spoken("250 one\r\n250 two\n250\r\n")
	buffer := make([]byte, 100)
	for _, line := range []string{"250 one\r\n", "250 two\r\n", "250 \r\n"} {
		assert.True(t, r.unread() || line == "250 one\r\n")
		n, err := r.Read(buffer)
		require.NoError(t, err)
		assert.Equal(t, line, string(buffer[:n]))
	}
	assert.False(t, r.unread())
	_, err := r.Read(buffer)
	require.ErrorIs(t, err, io.EOF)
}

func TestLongLinesAreShortened(t *testing.T) {
	t.Parallel()
	r := spoken("250-" + strings.Repeat("x", 30_000) + "\r\n250 end\r\n")
	text, err := r.reply(250)
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("x", maxReplyLine-len("250-"))+"\nend", text)
}

func TestEndlessRepliesEnd(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("250-x\r\n", 20_000), "250 " + strings.Repeat("x", 100_000)} {
		_, err := spoken(text).reply(250)
		require.ErrorIs(t, err, errReplyTooLong)
	}
}

func TestALineThatDoesNotEndIsNotBelieved(t *testing.T) {
	t.Parallel()
	_, err := spoken("250 taken").reply(250)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

func TestKeywordsOfEHLOComeInAnyCase(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"x", "8BITMIME", "Size 10"}
		c.Serve()
	})
	_, err := newTransport(t, plain(peer.Port()), nil).Send(patience(t), newMessage(), nil)
	require.ErrorContains(t, err, "the server takes at most 10")
	assert.Equal(t, mail.PhaseMail, failureOf(t, err).Phase)
	assert.Equal(t, "250-STARTTLS", string(capitalise([]byte("250-starttls"))))
	assert.Equal(t, "250 AUTH login Plain", string(capitalise([]byte("250 auth login Plain"))))
}
