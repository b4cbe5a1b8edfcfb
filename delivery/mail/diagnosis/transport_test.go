package diagnosis_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/diagnosis"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/retry"
)

// sent is the diagnosis of a message that could not be sent through in.
func sent(t *testing.T, in smtp.Integration, timeouts smtp.Timeouts) diagnosis.Diagnosis {
	t.Helper()
	transport := newTransport(t, smtp.Config{Integrations: smtp.Single(in), Timeouts: timeouts})
	_, err := transport.Send(patience(t), newMessage(), nil)
	return failed(t, err)
}

func TestAcceptedMessage(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, smtp.Config{Integrations: smtp.Single(plain(server.Port()))})
	receipt, err := transport.Send(patience(t), newMessage(), nil)
	require.NoError(t, err)
	assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.Accepted}, diagnosis.OfError(err))
	d := diagnosis.OfReceipt(receipt)
	assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.Accepted, Enhanced: "2.0.0", Server: "OK: queued"}, d)
	assertPresentable(t, d)
}

func TestUnknownHostName(t *testing.T) {
	t.Parallel()
	in := plain(0)
	in.Host = "nowhere.invalid" // RFC 6761: it never exists
	assert.Equal(t, diagnosis.HostNotFound, sent(t, in, smtp.Timeouts{}).Cause)
}

func TestClosedPort(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	assert.Equal(t, diagnosis.ConnectionRefused, sent(t, plain(port), smtp.Timeouts{}).Cause)
}

func TestDialTimeout(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	assert.Equal(t, diagnosis.Timeout, sent(t, plain(server.Port()), smtp.Timeouts{Dial: 1}).Cause)
}

// A network without a way cannot be had in a test, so these are the errors that
// package net makes of it.
func TestNoWayToTheServer(t *testing.T) {
	t.Parallel()
	for _, number := range []syscall.Errno{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EACCES} {
		d := diagnosis.OfError(&mail.SendError{
			Phase: mail.PhaseDial, Reach: mail.ReachServer, Temporary: true,
			Err: &net.OpError{Op: "dial", Net: "tcp", Err: number},
		})
		assert.Equal(t, diagnosis.Unreachable, d.Cause, number)
	}
}

func TestWhatAnswersIsNoMailServer(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]func(*smtptest.Conversation){
		"a web server's refusal": func(c *smtptest.Conversation) { c.Reply("HTTP/1.1 400 Bad Request", ""); c.Stall() },
		"IMAP":                   func(c *smtptest.Conversation) { c.Reply("* OK ready"); c.Stall() },
		"POP3":                   func(c *smtptest.Conversation) { c.Reply("+OK ready"); c.Stall() },
		"NNTP":                   func(c *smtptest.Conversation) { c.Reply("200 news"); c.Stall() },
		"FTP": func(c *smtptest.Conversation) {
			c.Reply("220 FTP")
			c.Expect("EHLO")
			c.Reply("530 Please login with USER and PASS.")
			c.Stall()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			peer := startPeer(t, script)
			assert.Equal(t, diagnosis.NotAMailServer, sent(t, plain(peer.Port()), smtp.Timeouts{}).Cause)
		})
	}
}

func TestServerThatWaitsToBeSpokenToAsForTLS(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, (*smtptest.Conversation).Stall)
	d := sent(t, plain(peer.Port()), smtp.Timeouts{Greeting: 50 * time.Millisecond})
	assert.Equal(t, diagnosis.NotAMailServer, d.Cause)
}

func TestTLSOnAPortWithoutIt(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Reply("220 plaintext here")
		c.Stall()
	})
	in := plain(peer.Port())
	in.TLS = smtp.ImplicitTLS
	assert.Equal(t, diagnosis.NotAMailServer, sent(t, in, smtp.Timeouts{}).Cause)
}

func TestRefusalInPlaceOfTLS(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Reply("421 too many concurrent connections")
		c.Stall()
	})
	in := plain(peer.Port())
	in.TLS = smtp.ImplicitTLS
	d := sent(t, in, smtp.Timeouts{})
	assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.ServerClosed, Code: 421}, d, "without words that are not the server's")
}

func TestEncryptionNotOffered(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, (*smtptest.Conversation).Serve)
	in := plain(peer.Port())
	in.TLS = smtp.RequireSTARTTLS
	assert.Equal(t, diagnosis.EncryptionMissing, sent(t, in, smtp.Timeouts{}).Cause)
}

func TestSilentHandshake(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, (*smtptest.Conversation).Stall)
	in := plain(peer.Port())
	in.TLS = smtp.ImplicitTLS
	assert.Equal(t, diagnosis.Timeout, sent(t, in, smtp.Timeouts{TLS: 50 * time.Millisecond}).Cause)
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*smtp.Integration)
		cause  diagnosis.Cause
	}{
		"of another name":   {func(in *smtp.Integration) { in.TLSServerName = "mail.example.org" }, diagnosis.CertificateName},
		"of nobody we know": {func(in *smtp.Integration) { in.RootCAs = x509.NewCertPool() }, diagnosis.CertificateUntrusted},
	} {
		for policy, mode := range map[smtp.TLSPolicy]smtptest.TLSMode{
			smtp.RequireSTARTTLS: smtptest.StartTLS, smtp.ImplicitTLS: smtptest.ImplicitTLS,
		} {
			t.Run(name+" "+policy.String(), func(t *testing.T) {
				t.Parallel()
				server := startServer(t, smtptest.Config{TLS: mode})
				in := smtp.Integration{Host: "127.0.0.1", Port: server.Port(), TLS: policy, RootCAs: server.RootCAs()}
				test.change(&in)
				assert.Equal(t, test.cause, sent(t, in, smtp.Timeouts{}).Cause)
			})
		}
	}
}

func TestCertificateExpired(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		from, to time.Duration
		trusted  bool
		cause    diagnosis.Cause
	}{
		"expired":       {-2 * time.Hour, -time.Hour, true, diagnosis.CertificateExpired},
		"not yet valid": {time.Hour, 2 * time.Hour, true, diagnosis.CertificateExpired},
		"self-signed":   {-time.Hour, time.Hour, false, diagnosis.CertificateUntrusted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			certificate, own := selfSigned(t, test.from, test.to)
			port := listenTLS(t, &tls.Config{Certificates: []tls.Certificate{certificate}})
			in := smtp.Integration{Host: "127.0.0.1", Port: port, TLS: smtp.ImplicitTLS, RootCAs: x509.NewCertPool()}
			if test.trusted {
				in.RootCAs.AddCert(own)
			}
			assert.Equal(t, test.cause, sent(t, in, smtp.Timeouts{}).Cause)
		})
	}
}

func TestServerTooOldForOurTLS(t *testing.T) {
	t.Parallel()
	certificate, own := selfSigned(t, -time.Hour, time.Hour)
	port := listenTLS(t, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
	in := smtp.Integration{Host: "127.0.0.1", Port: port, TLS: smtp.ImplicitTLS, RootCAs: x509.NewCertPool()}
	in.RootCAs.AddCert(own)
	assert.Equal(t, diagnosis.EncryptionFailed, sent(t, in, smtp.Timeouts{}).Cause)
}

// selfSigned makes a certificate for this machine that is its own authority.
func selfSigned(t *testing.T, from, to time.Duration) (tls.Certificate, *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotBefore:    time.Now().Add(from),
		NotAfter:     time.Now().Add(to),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	own, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, own
}

// listenTLS starts a server that makes one handshake, and returns its port.
func listenTLS(t *testing.T, config *tls.Config) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	serving.Go(func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = tls.Server(conn, config).HandshakeContext(context.Background()) // the client's side is what is looked at
	})
	t.Cleanup(func() {
		_ = listener.Close()
		serving.Wait()
	})
	return listener.Addr().(*net.TCPAddr).Port
}

func TestWrongPassword(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{Username: "robot", Password: "another", RequireAuth: true})
	d := sent(t, withPassword(plain(server.Port())), smtp.Timeouts{})
	assert.Equal(t, diagnosis.PasswordRefused, d.Cause)
	assert.Equal(t, 535, d.Code)
	assert.Equal(t, "5.7.8", d.Enhanced)
	assert.NotEmpty(t, d.Server)
}

func TestPasswordMissing(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{Username: "robot", Password: "another", RequireAuth: true})
	assert.Equal(t, diagnosis.LoginRequired, sent(t, plain(server.Port()), smtp.Timeouts{}).Cause)
}

func TestNoWayToLogIn(t *testing.T) {
	t.Parallel()
	for _, offer := range []string{"AUTH CRAM-MD5 XOAUTH2", "SIZE"} {
		peer := startPeer(t, func(c *smtptest.Conversation) {
			c.Extensions = []string{offer}
			c.Serve()
		})
		assert.Equal(t, diagnosis.LoginUnavailable, sent(t, withPassword(plain(peer.Port())), smtp.Timeouts{}).Cause)
	}
}

// A server may repeat what it was told.
func TestCredentialsAreNotQuoted(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Extensions = []string{"AUTH PLAIN"}
		c.Until(smtptest.Auth)
		c.Reply("535 5.7.8 cannot make sense of AHNvbWVib2R5AGVsc2UncwBzZWNyZXQ= hunter2-hunter2-hunter2 <ana> club@example.org")
		c.Stall()
	})
	d := sent(t, withPassword(plain(peer.Port())), smtp.Timeouts{})
	assert.Equal(t, "cannot make sense of … [secret] … …", d.Server)
}

func TestSilenceInAnEstablishedSession(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Mail)
		c.Stall()
	})
	assert.Equal(t, diagnosis.Timeout, sent(t, plain(peer.Port()), smtp.Timeouts{Mail: 50 * time.Millisecond}).Cause)
}

func TestConnectionCutOff(t *testing.T) {
	t.Parallel()
	for _, phase := range []smtptest.Phase{smtptest.Greeting, smtptest.Hello, smtptest.Mail, smtptest.Rcpt, smtptest.Data} {
		for name, end := range map[string]func(*smtptest.Conversation){
			"in order": (*smtptest.Conversation).Close, "by a reset": (*smtptest.Conversation).Reset,
		} {
			t.Run(fmt.Sprint(phase, " ", name), func(t *testing.T) {
				t.Parallel()
				peer := startPeer(t, func(c *smtptest.Conversation) {
					c.Until(phase)
					end(c)
				})
				assert.Equal(t, diagnosis.ServerClosed, sent(t, plain(peer.Port()), smtp.Timeouts{}).Cause)
			})
		}
	}
}

func TestNoReplyAfterTheDot(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{Rules: []smtptest.Rule{{At: smtptest.Dot, Drop: true}}})
	assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.OutcomeUnknown}, sent(t, plain(server.Port()), smtp.Timeouts{}))
	assert.Equal(t, 1, server.Accepted(), "it was taken")
}

func TestReplyToTheDotThatIsNone(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Dot)
		c.Reply("354 go on")
		c.Stall()
	})
	assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.OutcomeUnknown, Code: 354}, sent(t, plain(peer.Port()), smtp.Timeouts{}))
}

func TestOutOfStep(t *testing.T) {
	t.Parallel()
	peer := startPeer(t, func(c *smtptest.Conversation) {
		c.Until(smtptest.Mail)
		c.Reply("354 what did you say?")
		c.Stall()
	})
	assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.Other, Code: 354}, sent(t, plain(peer.Port()), smtp.Timeouts{}))
}

func TestLargerThanTheServerTakes(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{MaxMessageBytes: 10})
	assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.TooLarge}, sent(t, plain(server.Port()), smtp.Timeouts{}))
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*mail.Message)
		cause  diagnosis.Cause
	}{
		"subject of two lines":     {func(m *mail.Message) { m.Subject = "x\r\nBcc: eve@example.com" }, diagnosis.MessageInvalid},
		"no text":                  {func(m *mail.Message) { m.Text = " " }, diagnosis.MessageInvalid},
		"sender without a domain":  {func(m *mail.Message) { m.From.Address = "club" }, diagnosis.SenderNotAllowed},
		"recipient with two ats":   {func(m *mail.Message) { m.To.Address = "ana@@example.net" }, diagnosis.RecipientRefused},
		"recipient needs SMTPUTF8": {func(m *mail.Message) { m.To.Address = "josé@example.net" }, diagnosis.RecipientRefused},
		"sender needs SMTPUTF8":    {func(m *mail.Message) { m.From.Address = "josé@example.net" }, diagnosis.SenderNotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, smtptest.Config{})
			transport := newTransport(t, smtp.Config{Integrations: smtp.Single(plain(server.Port()))})
			m := newMessage()
			test.change(m)
			_, err := transport.Send(patience(t), m, nil)
			assert.Equal(t, test.cause, failed(t, err).Cause)
		})
	}
}

func TestSettingsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	// The host's database is not the mail server.
	away := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	for name, test := range map[string]struct {
		in    smtp.Integration
		err   error
		cause diagnosis.Cause
	}{
		"missing":                  {smtp.Integration{}, retry.Permanent(errors.New("no such tenant")), diagnosis.IntegrationInvalid},
		"wrong":                    {smtp.Integration{Port: -1}, nil, diagnosis.IntegrationInvalid},
		"database cannot be asked": {smtp.Integration{}, away, diagnosis.Other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transport := newTransport(t, smtp.Config{Integrations: smtp.IntegrationsFunc(
				func(context.Context, string) (smtp.Integration, error) { return test.in, test.err })})
			_, err := transport.Send(patience(t), newMessage(), nil)
			assert.Equal(t, test.cause, failed(t, err).Cause)
		})
	}
}

func TestGivenUpBeforeTheDot(t *testing.T) {
	t.Parallel()
	server := startServer(t, smtptest.Config{})
	transport := newTransport(t, smtp.Config{Integrations: smtp.Single(plain(server.Port()))})
	for _, said := range []error{errors.New("the lease is lost"), context.Canceled, context.DeadlineExceeded} {
		_, err := transport.Send(patience(t), newMessage(), func(context.Context) error { return said })
		assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.Cancelled}, failed(t, err), said)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := transport.Send(ctx, newMessage(), nil)
	assert.Equal(t, diagnosis.Cancelled, failed(t, err).Cause)
	assert.Zero(t, server.Accepted())
}

func TestOutOfTimeBeforeAConnection(t *testing.T) {
	t.Parallel()
	transport := newTransport(t, smtp.Config{Integrations: smtp.Single(plain(1))})
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	_, err := transport.Send(ctx, newMessage(), nil)
	assert.Equal(t, diagnosis.Timeout, failed(t, err).Cause)
}

func TestClosedTransport(t *testing.T) {
	t.Parallel()
	transport := newTransport(t, smtp.Config{Integrations: smtp.Single(plain(1))})
	require.NoError(t, transport.Close(patience(t)))
	_, err := transport.Send(patience(t), newMessage(), nil)
	assert.Equal(t, diagnosis.Other, failed(t, err).Cause)
}

// Nobody knows what an error is about that is no *mail.SendError.
func TestOtherErrors(t *testing.T) {
	t.Parallel()
	var none *mail.SendError
	for _, err := range []error{errors.New("x"), syscall.ECONNREFUSED, context.Canceled, none, &mail.SendError{}} {
		assert.Equal(t, diagnosis.Diagnosis{Cause: diagnosis.Other}, diagnosis.OfError(err))
	}
	wrapped := fmt.Errorf("billing: %w", &mail.SendError{Phase: mail.PhaseRcpt, Code: 550, Enhanced: "5.1.1"})
	assert.Equal(t, diagnosis.RecipientRefused, diagnosis.OfError(wrapped).Cause)
}

func TestReceipts(t *testing.T) {
	t.Parallel()
	for response, want := range map[string]diagnosis.Diagnosis{
		"":                        {},
		"Ok 0100018f-1-000000":    {Server: "Ok 0100018f-1-000000"},
		"2.0.0":                   {Enhanced: "2.0.0"},
		"2.0.0 Ok: queued as 4A1": {Enhanced: "2.0.0", Server: "Ok: queued as 4A1"},
		"2.6.0 <42@example.org> [InternalId=7] Queued mail for delivery": {
			Enhanced: "2.6.0", Server: "… [InternalId=7] Queued mail for delivery"},
		strings.Repeat("ñ", 500): {Server: strings.Repeat("ñ", 199) + "…"},
	} {
		want.Cause = diagnosis.Accepted
		got := diagnosis.OfReceipt(mail.Receipt{Response: response})
		assert.Equal(t, want, got)
		assertPresentable(t, got)
	}
}
