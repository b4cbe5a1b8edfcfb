package smtptest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"sync"

	"github.com/emersion/go-smtp"
)

// A TLSMode says how a [Server] speaks TLS.
type TLSMode int

// The TLS modes.
const (
	NoTLS       TLSMode = iota // plaintext only: STARTTLS is not offered
	StartTLS                   // plaintext, and TLS after STARTTLS (RFC 3207)
	ImplicitTLS                // TLS from the first byte (RFC 8314)
)

// Config configures a [Server]. Its zero value is a plaintext server on a free
// port that takes every message and keeps them all.
type Config struct {
	// Addr is the TCP address to listen on. Defaults to a free port of
	// 127.0.0.1.
	Addr string

	TLS TLSMode
	// Hosts are the host names and IP addresses on the server's certificate.
	// Defaults to "localhost" and the loopback addresses. Used with TLS only.
	Hosts []string

	// Username and Password are what AUTH PLAIN and LOGIN must be given. AUTH
	// is offered, also without TLS, where one of them is set.
	Username, Password string
	// RequireAuth refuses MAIL from a client that has not authenticated.
	RequireAuth bool
	// Mechanisms are the mechanisms offered. Defaults to PLAIN and LOGIN.
	Mechanisms []string

	// SMTPUTF8 offers addresses in UTF-8 (RFC 6531).
	SMTPUTF8 bool
	// MaxMessageBytes is the size limit that the server announces (RFC 1870)
	// and enforces. Zero means no limit.
	MaxMessageBytes int64

	// Keep is how many messages the server remembers, the newest. Zero means
	// all of them.
	Keep int

	// Rules change what the server answers. See [Rule].
	Rules []Rule
}

// A Server is an SMTP server that keeps what it accepts.
type Server struct {
	config   Config
	smtp     *smtp.Server
	listener *trackingListener
	roots    *x509.CertPool
	script   script
	inbox    inbox

	serving sync.WaitGroup
	closing chan struct{}
	close   func() error
}

// NewServer starts a server. It listens when NewServer returns.
func NewServer(config Config) (*Server, error) {
	if err := config.validate(); err != nil {
		return nil, err
	}
	s := &Server{config: config, closing: make(chan struct{})}
	s.script.set(config.Rules)
	s.inbox.init(config.Keep)
	s.close = sync.OnceValue(s.shutdown)

	s.smtp = smtp.NewServer(smtp.BackendFunc(s.newSession))
	s.smtp.Domain = "smtptest.invalid"
	s.smtp.AllowInsecureAuth = true
	s.smtp.EnableSMTPUTF8 = config.SMTPUTF8
	s.smtp.MaxMessageBytes = config.MaxMessageBytes
	// Broken connections are what tests are about, not errors to print.
	s.smtp.ErrorLog = log.New(io.Discard, "", 0)

	if err := s.listen(); err != nil {
		return nil, fmt.Errorf("smtptest: start server: %w", err)
	}
	return s, nil
}

func (c Config) validate() error {
	var faults []error
	if c.TLS < NoTLS || c.TLS > ImplicitTLS {
		faults = append(faults, fmt.Errorf("smtptest: Config.TLS: unknown mode %d", c.TLS))
	}
	if c.Keep < 0 {
		faults = append(faults, fmt.Errorf("smtptest: Config.Keep: %d is negative", c.Keep))
	}
	if c.MaxMessageBytes < 0 {
		faults = append(faults, fmt.Errorf("smtptest: Config.MaxMessageBytes: %d is negative", c.MaxMessageBytes))
	}
	if c.RequireAuth && !c.offersAuth() {
		faults = append(faults, errors.New("smtptest: Config.RequireAuth: needs Username and Password"))
	}
	for _, mechanism := range c.Mechanisms {
		if mechanism != "PLAIN" && mechanism != "LOGIN" {
			faults = append(faults, fmt.Errorf("smtptest: Config.Mechanisms: %q is neither PLAIN nor LOGIN", mechanism))
		}
	}
	for i, rule := range c.Rules {
		if err := rule.validate(); err != nil {
			faults = append(faults, fmt.Errorf("smtptest: Config.Rules[%d]: %w", i, err))
		}
	}
	return errors.Join(faults...)
}

func (c Config) offersAuth() bool { return c.Username != "" || c.Password != "" }

func (s *Server) listen() error {
	var serverTLS *tls.Config
	if s.config.TLS != NoTLS {
		certificate, roots, err := newCertificate(s.config.Hosts)
		if err != nil {
			return err
		}
		s.roots = roots
		serverTLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	}
	addr := s.config.Addr
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.listener = newTrackingListener(listener)

	var serve net.Listener = s.listener
	switch s.config.TLS {
	case StartTLS:
		s.smtp.TLSConfig = serverTLS
	case ImplicitTLS:
		serve = tls.NewListener(s.listener, serverTLS)
	}
	s.serving.Go(func() { _ = s.smtp.Serve(serve) })
	return nil
}

// Addr returns the address that the server listens on, such as
// "127.0.0.1:40123".
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Port returns the port of [Server.Addr].
func (s *Server) Port() int { return s.listener.Addr().(*net.TCPAddr).Port }

// RootCAs returns the authorities that a client must trust to believe the
// server's certificate; nil without TLS.
func (s *Server) RootCAs() *x509.CertPool { return s.roots }

// SetRules replaces the rules; what they counted begins again.
func (s *Server) SetRules(rules ...Rule) error {
	for i, rule := range rules {
		if err := rule.validate(); err != nil {
			return fmt.Errorf("smtptest: rule %d: %w", i, err)
		}
	}
	s.script.set(rules)
	return nil
}

// Messages returns the accepted messages that the server remembers, oldest
// first.
func (s *Server) Messages() []Message { return s.inbox.messages() }

// Message returns the accepted message with that number, and whether the
// server remembers it.
func (s *Server) Message(number int) (Message, bool) {
	for _, m := range s.inbox.messages() {
		if m.Number == number {
			return m, true
		}
	}
	return Message{}, false
}

// Accepted returns how many messages the server has accepted, forgotten ones
// included.
func (s *Server) Accepted() int { return s.inbox.accepted() }

// Copies returns how many of the remembered messages bear that Message-ID,
// which is given without angle brackets.
func (s *Server) Copies(messageID string) int {
	copies := 0
	for _, m := range s.inbox.messages() {
		if m.MessageID() == messageID {
			copies++
		}
	}
	return copies
}

// WaitForMessages waits until the server has accepted n messages since it
// started, and returns those that it remembers. The error is ctx's.
func (s *Server) WaitForMessages(ctx context.Context, n int) ([]Message, error) {
	if err := s.inbox.wait(ctx, n); err != nil {
		return nil, fmt.Errorf("smtptest: wait for %d messages (%d so far): %w", n, s.Accepted(), err)
	}
	return s.inbox.messages(), nil
}

// Connections returns how many connections the server has accepted so far.
func (s *Server) Connections() int { return s.listener.total() }

// OpenConnections returns how many connections are open now.
func (s *Server) OpenConnections() int { return s.listener.open() }

// WaitForNoConnections waits until every connection has been closed. The error
// is ctx's.
func (s *Server) WaitForNoConnections(ctx context.Context) error {
	if err := s.listener.waitForNone(ctx); err != nil {
		return fmt.Errorf("smtptest: wait for the last connection: %w", err)
	}
	return nil
}

// Close stops listening, cuts every connection, releases what is held, and
// returns when all of the server's goroutines have ended. Messages can still be
// read afterwards. Further calls return the first one's error.
func (s *Server) Close() error { return s.close() }

func (s *Server) shutdown() error {
	close(s.closing)
	err := s.listener.closeAll()
	// Shutdown must find no Serve loop that may still start a handler.
	s.serving.Wait()
	// Its own listeners are closed already, which it would report.
	if shut := s.smtp.Shutdown(context.Background()); shut != nil && !errors.Is(shut, net.ErrClosed) {
		err = errors.Join(err, shut)
	}
	return err
}

// mechanisms returns the AUTH mechanisms to offer.
func (c Config) mechanisms() []string {
	if !c.offersAuth() {
		return nil
	}
	if len(c.Mechanisms) > 0 {
		return slices.Clone(c.Mechanisms)
	}
	return []string{"PLAIN", "LOGIN"}
}
