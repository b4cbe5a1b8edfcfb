package smtp

import (
	"encoding/base64"
	"errors"
	"net"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail"
)

var (
	errPasswordInClear = errors.New("a password is not sent without encryption to another machine;" +
		" use TLS for this integration")
	errNoMechanism = errors.New("the server offers neither AUTH PLAIN nor AUTH LOGIN," +
		" and the integration has a user name")
)

// authenticate logs in (RFC 4954), if the integration has a user name.
func (s *session) authenticate() error {
	if s.integration.Username == "" {
		return nil
	}
	s.begin(mail.PhaseAuth, s.timeouts.Auth)
	if !mayAuthenticate(s.encrypted, s.wire.RemoteAddr()) {
		return errPasswordInClear
	}
	switch {
	case s.client.SupportsAuth("PLAIN"):
		return s.authPlain()
	case s.client.SupportsAuth("LOGIN"):
		return s.authLogin()
	}
	return errNoMechanism
}

// mayAuthenticate reports whether a password may be sent: encrypted, or to this
// machine. The peer's address decides, since a name may resolve to anything.
func mayAuthenticate(encrypted bool, peer net.Addr) bool {
	if encrypted {
		return true
	}
	tcp, ok := peer.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// authPlain speaks AUTH PLAIN (RFC 4616). The exchange is not go-smtp's, which
// sends "*" after a refusal, as a command of its own, and waits for the reply.
func (s *session) authPlain() error {
	return s.replies.command(235, "AUTH PLAIN "+encodePlain(s.integration))
}

func encodePlain(in Integration) string {
	return encodeBase64("\x00" + in.Username + "\x00" + string(in.Password))
}

// authLogin speaks AUTH LOGIN (draft-murchison-sasl-login). Servers ask for the
// user name and the password in words of their own ("Username:", "User Name"),
// and some refuse an initial response; so the words are ignored, and each
// answer waits for its question. go-sasl's client does neither.
func (s *session) authLogin() error {
	if err := s.replies.command(334, "AUTH LOGIN"); err != nil {
		return err
	}
	if err := s.replies.command(334, encodeBase64(s.integration.Username)); err != nil {
		return err
	}
	return s.replies.command(235, encodeBase64(string(s.integration.Password)))
}

func encodeBase64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// withoutCredentials takes out what a server repeats of an AUTH command.
func withoutCredentials(text string, in Integration) string {
	secrets := []string{encodePlain(in), encodeBase64(string(in.Password)), string(in.Password)}
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	// A long one may have been cut with the line that it stood in.
	words := strings.Fields(text)
	for i, word := range words {
		for _, secret := range secrets {
			if len(word) >= 8 && strings.HasPrefix(secret, word) {
				words[i] = redacted
			}
		}
	}
	return strings.Join(words, " ")
}
