package smtp

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Config configures a [Transport].
type Config struct {
	// Integrations finds each tenant's SMTP integration. Required.
	Integrations Integrations

	// Timeouts bound each step of a session.
	Timeouts Timeouts

	// MaxConnections is how many connections are open to one integration at
	// most. A Send that finds them all busy waits for one until its context
	// ends. Defaults to 8.
	MaxConnections int
	// IdleTimeout is how long a connection is kept without use. Servers close
	// idle ones after as little as 10 seconds. Defaults to 8 seconds.
	IdleTimeout time.Duration
	// MaxMessagesPerConnection is after how many messages a connection is
	// replaced. A lower limit of the server (RFC 9422, MAILMAX) is obeyed.
	// Defaults to 100.
	MaxMessagesPerConnection int
	// ReplyGrace is how long a Send whose context has ended goes on waiting for
	// the reply to its final dot, before it gives up with an unknown outcome.
	// Defaults to 5 seconds.
	ReplyGrace time.Duration

	// Logger gets connections opened, closed and found dead, at level debug.
	// Defaults to slog.Default().
	Logger *slog.Logger
}

// Timeouts bound the steps of a session; zero means the default. The defaults
// of the steps that RFC 5321 section 4.5.3.2 names are its minima. A Send's
// context ends any step sooner, so there is little need to shorten them.
type Timeouts struct {
	Dial     time.Duration // name resolution and connection; defaults to 30 s
	Greeting time.Duration // the server's first line; defaults to 5 min
	Hello    time.Duration // the reply to EHLO; defaults to 5 min
	TLS      time.Duration // the reply to STARTTLS and the handshake; defaults to 1 min
	Auth     time.Duration // the whole of AUTH; defaults to 2 min
	Mail     time.Duration // the reply to MAIL; defaults to 5 min
	Rcpt     time.Duration // the reply to RCPT; defaults to 5 min
	Data     time.Duration // the reply to DATA; defaults to 2 min
	Block    time.Duration // the server taking 16 kB of what is written; defaults to 3 min
	Dot      time.Duration // the reply to the final dot; defaults to 10 min
}

func (t Timeouts) withDefaults() Timeouts {
	return Timeouts{
		Dial:     cmp.Or(t.Dial, 30*time.Second),
		Greeting: cmp.Or(t.Greeting, 5*time.Minute),
		Hello:    cmp.Or(t.Hello, 5*time.Minute),
		TLS:      cmp.Or(t.TLS, time.Minute),
		Auth:     cmp.Or(t.Auth, 2*time.Minute),
		Mail:     cmp.Or(t.Mail, 5*time.Minute),
		Rcpt:     cmp.Or(t.Rcpt, 5*time.Minute),
		Data:     cmp.Or(t.Data, 2*time.Minute),
		Block:    cmp.Or(t.Block, 3*time.Minute),
		Dot:      cmp.Or(t.Dot, 10*time.Minute),
	}
}

func (c Config) withDefaults() Config {
	c.Timeouts = c.Timeouts.withDefaults()
	c.MaxConnections = cmp.Or(c.MaxConnections, 8)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 8*time.Second)
	c.MaxMessagesPerConnection = cmp.Or(c.MaxMessagesPerConnection, 100)
	c.ReplyGrace = cmp.Or(c.ReplyGrace, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

func (c Config) validate() error {
	var faults []error
	if c.Integrations == nil {
		faults = append(faults, errors.New("smtp: Config.Integrations: is required"))
	}
	t := c.Timeouts
	for _, field := range []struct {
		name  string
		value int64
	}{
		{"Timeouts.Dial", int64(t.Dial)}, {"Timeouts.Greeting", int64(t.Greeting)}, {"Timeouts.Hello", int64(t.Hello)},
		{"Timeouts.TLS", int64(t.TLS)}, {"Timeouts.Auth", int64(t.Auth)}, {"Timeouts.Mail", int64(t.Mail)},
		{"Timeouts.Rcpt", int64(t.Rcpt)}, {"Timeouts.Data", int64(t.Data)}, {"Timeouts.Block", int64(t.Block)},
		{"Timeouts.Dot", int64(t.Dot)}, {"MaxConnections", int64(c.MaxConnections)},
		{"IdleTimeout", int64(c.IdleTimeout)}, {"MaxMessagesPerConnection", int64(c.MaxMessagesPerConnection)},
		{"ReplyGrace", int64(c.ReplyGrace)},
	} {
		if field.value < 0 {
			faults = append(faults, fmt.Errorf("smtp: Config.%s: is negative", field.name))
		}
	}
	return errors.Join(faults...)
}
