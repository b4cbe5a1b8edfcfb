package smtp

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/emersion/go-smtp"

	"github.com/buzon-go/buzon/delivery/mail"
)

// A session is one connection to a server: greeted, encrypted, authenticated,
// and used for one message after another. go-smtp's client introduces it and
// knows what the server offers; the transactions are our own, since go-smtp's
// client cannot pipeline, cannot hold back the dot without a part of the body,
// has no time limit while the body is written, and says EHLO after each RSET.
type session struct {
	integration Integration
	timeouts    Timeouts
	replyGrace  time.Duration

	wire      *wire
	replies   *replies
	client    *smtp.Client
	encrypted bool
	phase     mail.Phase

	messages int  // transactions begun
	limit    int  // of transactions
	broken   bool // nothing may be said on this connection any more
}

// dial connects to the server of an integration and makes the connection ready
// for messages. ctx ends it at any point. opened is called when there is a
// connection, and what it returns when there no longer is.
func dial(ctx context.Context, in Integration, config Config, opened func() (closed func())) (*session, error) {
	s := &session{
		integration: in,
		timeouts:    config.Timeouts,
		replyGrace:  config.ReplyGrace,
		limit:       config.MaxMessagesPerConnection,
		phase:       mail.PhaseDial,
	}
	dialer := net.Dialer{Timeout: s.timeouts.Dial}
	began := time.Now()
	conn, err := dialer.DialContext(ctx, "tcp", in.address())
	if err != nil {
		return nil, s.failure(ctx, err, time.Since(began))
	}
	s.wire = newWire(conn, s.timeouts.Block, opened())
	stop := context.AfterFunc(ctx, s.wire.cut)
	defer stop()
	if err := s.start(); err != nil {
		s.wire.cut()
		return nil, s.fail(ctx, err)
	}
	return s, nil
}

// begin starts a phase: its time limit, and what an error is attributed to.
func (s *session) begin(phase mail.Phase, timeout time.Duration) {
	s.phase = phase
	s.wire.begin(timeout)
}

func (s *session) start() error {
	s.replies = newReplies(s.wire)
	if s.integration.TLS == ImplicitTLS {
		s.begin(mail.PhaseTLS, s.timeouts.TLS)
		if err := s.encrypt(); err != nil {
			return err
		}
	}
	s.begin(mail.PhaseGreeting, s.timeouts.Greeting)
	if _, err := s.replies.reply(220); err != nil {
		return err
	}
	if err := s.hello(); err != nil {
		return err
	}
	if s.integration.TLS == RequireSTARTTLS {
		if err := s.startTLS(); err != nil {
			return err
		}
		// What was said in the clear must be forgotten (RFC 3207 section 4.2).
		if err := s.hello(); err != nil {
			return err
		}
	}
	s.limit = min(s.limit, mailMax(s.client))
	return s.authenticate()
}

// hello introduces the client. A go-smtp client does so only once, hence a new
// one each time.
func (s *session) hello() error {
	s.begin(mail.PhaseHello, s.timeouts.Hello)
	s.replies.repeatGreeting()
	s.replies.hello = true
	s.client = smtp.NewClient(s.replies)
	err := s.client.Hello(helloName(s.integration.HelloName, s.wire.LocalAddr()))
	s.replies.hello = false
	return err
}

// helloName returns the configured name, or else the address literal of this
// end of the connection (RFC 5321 section 4.1.3): "localhost" is refused by
// many servers.
func helloName(configured string, local net.Addr) string {
	if configured != "" {
		return configured
	}
	tcp, ok := local.(*net.TCPAddr)
	if !ok {
		return "[127.0.0.1]"
	}
	addr, _ := netip.AddrFromSlice(tcp.IP)
	if addr = addr.Unmap(); addr.Is4() {
		return "[" + addr.String() + "]"
	}
	return "[IPv6:" + addr.String() + "]"
}

var (
	errNoSTARTTLS = errors.New("the server does not offer STARTTLS, and nothing is sent without encryption;" +
		" use implicit TLS (port 465), or allow plaintext for this integration")
	errInjected = errors.New("the server sent more than its reply to STARTTLS, which somebody else may have put there")
	errNotTLS   = errors.New("the server does not speak TLS from the first byte on this port;" +
		" use STARTTLS (port 587), or the port for implicit TLS (465)")
)

func (s *session) startTLS() error {
	s.begin(mail.PhaseTLS, s.timeouts.TLS)
	if offered, _ := s.client.Extension("STARTTLS"); !offered {
		return errNoSTARTTLS
	}
	if err := s.replies.command(220, "STARTTLS"); err != nil {
		return err
	}
	// Bytes that came in the clear behind the 220 must not be taken for the
	// server's encrypted word.
	if s.replies.unread() {
		return errInjected
	}
	return s.encrypt()
}

// encrypt makes the TLS handshake, which verifies the server's certificate.
func (s *session) encrypt() error {
	conn := tls.Client(s.wire, &tls.Config{
		ServerName: strings.TrimSuffix(s.integration.certificateName(), "."),
		RootCAs:    s.integration.RootCAs,
		MinVersion: tls.VersionTLS12,
	})
	err := conn.Handshake()
	if plain, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		if code := refusalInPlain(plain.RecordHeader); code != 0 {
			return &textproto.Error{Code: code, Msg: "refused before TLS"}
		}
		return fmt.Errorf("%w: %w", errNotTLS, err)
	}
	if err != nil {
		return err
	}
	s.replies = newReplies(conn)
	s.encrypted = true
	return nil
}

// refusalInPlain returns the code of a refusal in place of a TLS record, and 0
// for anything else: a server that is too busy may say so before it speaks TLS.
func refusalInPlain(start [5]byte) int {
	code, err := strconv.Atoi(string(start[:3]))
	if err != nil || code < 400 || code > 599 || start[3] != ' ' && start[3] != '-' {
		return 0
	}
	return code
}

// mailMax returns how many transactions the server allows on a connection (RFC
// 9422 section 4.1), or a very large number.
func mailMax(client *smtp.Client) int {
	const unlimited = 1 << 30
	_, limits := client.Extension("LIMITS")
	for limit := range strings.FieldsSeq(limits) {
		name, value, _ := strings.Cut(limit, "=")
		if n, err := strconv.Atoi(value); strings.EqualFold(name, "MAILMAX") && err == nil && n > 0 {
			return min(n, unlimited)
		}
	}
	return unlimited
}

// courtesy bounds what is done for good manners only: QUIT, and the RSET after a
// transaction that was refused.
func (s *session) courtesy() time.Duration { return min(5*time.Second, s.timeouts.Mail) }

// quit says goodbye, unless the connection is broken, and closes it. Whatever
// happens here is of no consequence.
func (s *session) quit() {
	defer s.wire.cut()
	if s.broken {
		return
	}
	s.wire.begin(s.courtesy())
	s.wire.block = s.courtesy()
	_ = s.client.Quit()
}
