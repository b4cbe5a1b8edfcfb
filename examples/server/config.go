package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/retry"
)

const usage = `Usage: server [flags]

A sample host of Buzón. Flags:

  -listen address   where the pages are (environment: LISTEN_ADDR;
                    default 127.0.0.1:8080; port 0 is any free one)
  -data folder      where the private PostgreSQL keeps its data (environment:
                    DATA_DIR; default: a folder of its own in the user's cache)
  -throwaway        the private PostgreSQL forgets everything at the end

Environment:

  DATABASE_URL      a PostgreSQL to use instead of a private one
  SMTP_HOST         a server that sends the e-mails for real; without it they
                    are kept, and shown at /inbox
  SMTP_PORT         default 587, with SMTP_TLS=tls 465, with none 25
  SMTP_TLS          starttls (the default), tls or none
  SMTP_USERNAME     for a server that wants to know who sends,
  SMTP_PASSWORD     both or none
  SMTP_FROM         the sender of every e-mail, where that server takes only
                    senders that it knows

The library itself reads MAIL_RETRY_MAX, MAIL_RETRY_BASE_DELAY and
EMAIL_DELIVERY_LEASE_SECONDS.
`

// A config is what the command line and the environment say.
type config struct {
	listen      string
	databaseURL string // empty: a private PostgreSQL
	dataFolder  string // of the private one; empty: the default
	throwaway   bool
	smtp        smtpSettings
}

// readConfig returns all faults at once. -h is flag.ErrHelp, after the usage
// was written.
func readConfig(args []string, getenv func(string) string, stdout io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("server", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // The error says what is wrong.
	flags.Usage = func() { _, _ = io.WriteString(stdout, usage) }
	flags.StringVar(&c.listen, "listen", orDefault(getenv("LISTEN_ADDR"), "127.0.0.1:8080"), "")
	flags.StringVar(&c.dataFolder, "data", getenv("DATA_DIR"), "")
	flags.BoolVar(&c.throwaway, "throwaway", false, "")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	c.databaseURL = getenv("DATABASE_URL")

	var smtpFault error
	c.smtp, smtpFault = readSMTPSettings(getenv)
	// The library reads its own variables; asked here, their faults come
	// together with all others.
	_, retryFault := retry.FromEnv()
	faults := []error{checkAddress(c.listen), c.checkDatabase(), smtpFault, retryFault}
	if flags.NArg() > 0 {
		faults = append(faults, fmt.Errorf("%q is no flag", flags.Arg(0)))
	}
	return c, errors.Join(faults...)
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

func checkAddress(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("-listen %q: want host:port, such as 127.0.0.1:8080", address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("-listen %q: the port is no number from 0 to 65535", address)
	}
	return nil
}

// checkDatabase keeps pgx's own words, which repeat what was given, to itself:
// a connection string holds a password.
func (c config) checkDatabase() error {
	switch {
	case c.throwaway && c.dataFolder != "":
		return errors.New("-throwaway and -data contradict each other")
	case c.databaseURL == "":
		return nil
	case c.throwaway || c.dataFolder != "":
		return errors.New("-throwaway and -data are for a private PostgreSQL, and DATABASE_URL names another one")
	}
	if _, err := pgxpool.ParseConfig(c.databaseURL); err != nil {
		return errors.New("DATABASE_URL is no connection string; want one like postgres://user:password@host:5432/database")
	}
	return nil
}
