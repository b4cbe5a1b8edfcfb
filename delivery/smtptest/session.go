package smtptest

import (
	"errors"
	"io"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

var _ smtp.AuthSession = (*session)(nil)

// A session is one client's session with a [Server].
type session struct {
	server        *Server
	conn          *smtp.Conn
	authenticated string // the user name

	envelope Message // of the transaction that goes on
}

func (s *Server) newSession(conn *smtp.Conn) (smtp.Session, error) {
	return &session{server: s, conn: conn}, nil
}

// errDropped ends a handler whose connection the script has closed.
var errDropped = errors.New("smtptest: dropped by a rule")

// obey does what the rules say for this phase. A nil error means to go on as
// usual.
func (s *session) obey(at Phase) error {
	recipient := ""
	if n := len(s.envelope.To); n > 0 {
		recipient = s.envelope.To[n-1]
	}
	rule, ok := s.server.script.next(at, recipient)
	if !ok {
		return nil
	}
	return s.act(rule)
}

func (s *session) act(rule Rule) error {
	if rule.Hold != nil {
		rule.Hold.wait(s.server.closing)
	}
	if rule.Drop {
		return errors.Join(errDropped, s.conn.Conn().Close())
	}
	return rule.Reply.err()
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, opts *smtp.MailOptions) error {
	if s.server.config.RequireAuth && s.authenticated == "" {
		return &smtp.SMTPError{Code: 530, EnhancedCode: smtp.EnhancedCode{5, 7, 0}, Message: "Authentication required"}
	}
	_, overTLS := s.conn.TLSConnectionState()
	s.envelope = Message{
		Hello:    s.conn.Hostname(),
		Username: s.authenticated,
		TLS:      overTLS,
		UTF8:     opts != nil && opts.UTF8,
		From:     from,
	}
	return s.obey(Mail)
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.envelope.To = append(s.envelope.To, to)
	err := s.obey(Rcpt)
	if err != nil {
		s.envelope.To = s.envelope.To[:len(s.envelope.To)-1]
	}
	return err
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	if err := s.obey(Body); err != nil {
		return err
	}
	data, err := io.ReadAll(r)
	if err != nil {
		return err // the client went away before the dot, or wrote too much
	}
	rule, ok := s.server.script.next(Dot, s.envelope.To[len(s.envelope.To)-1])
	if !ok || rule.Reply == (Reply{}) {
		s.take(data)
	}
	if !ok {
		return nil
	}
	return s.act(rule)
}

func (s *session) take(data []byte) {
	m := s.envelope
	m.Data = data
	m.Received = time.Now()
	s.server.inbox.add(m)
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.envelope = Message{} }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// AuthMechanisms implements smtp.AuthSession.
func (s *session) AuthMechanisms() []string { return s.server.config.mechanisms() }

// Auth implements smtp.AuthSession.
func (s *session) Auth(mechanism string) (sasl.Server, error) {
	if !s.server.config.offersAuth() {
		return nil, smtp.ErrAuthUnsupported
	}
	for _, offered := range s.AuthMechanisms() {
		if offered != mechanism {
			continue
		}
		if mechanism == "LOGIN" {
			return &loginServer{authenticate: s.authenticate}, nil
		}
		return sasl.NewPlainServer(func(_, username, password string) error {
			return s.authenticate(username, password)
		}), nil
	}
	return nil, smtp.ErrAuthUnknownMechanism
}

func (s *session) authenticate(username, password string) error {
	if err := s.obey(Auth); err != nil {
		return err
	}
	if username != s.server.config.Username || password != s.server.config.Password {
		return smtp.ErrAuthFailed
	}
	s.authenticated = username
	return nil
}
