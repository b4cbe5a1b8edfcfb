package mail_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/pgtest"
)

// next is what a job does after its first attempt.
type next string

const (
	retried next = "is retried, one retry spent"
	failed  next = "has failed for good"
)

// fault is a mail server's misbehaviour, and what must be on record after one
// attempt: of the job and of the delivery.
type fault struct {
	at     smtptest.Phase
	script func(*smtptest.Conversation) // from where the reply at that phase is due

	next   next
	status mail.Status
	text   string // in both errors
}

func faults() map[string]fault {
	reply := func(line string) func(*smtptest.Conversation) {
		return func(c *smtptest.Conversation) { c.Reply(line); c.Serve() }
	}
	all := map[string]fault{
		"451 to RCPT":             {smtptest.Rcpt, reply("451 4.7.1 greylisted"), retried, mail.StatusFailed, "smtp: rcpt: 451 4.7.1"},
		"451 to the dot":          {smtptest.Dot, reply("451 4.3.0 later"), retried, mail.StatusFailed, "smtp: dot: 451 4.3.0 later"},
		"550 5.1.1 to RCPT":       {smtptest.Rcpt, reply("550 5.1.1 <ana@example.net> unknown"), failed, mail.StatusFailed, "smtp: rcpt: 550 5.1.1 <[address]> unknown"},
		"554 to the dot":          {smtptest.Dot, reply("554 5.7.1 spam"), failed, mail.StatusFailed, "smtp: dot: 554 5.7.1 spam"},
		"421 at the greeting":     {smtptest.Greeting, reply("421 4.3.2 too busy"), retried, mail.StatusFailed, "smtp: greeting: 421 4.3.2 too busy"},
		"421 to MAIL, no reuse":   {smtptest.Mail, reply("421 4.3.2 too many"), retried, mail.StatusFailed, "smtp: mail: 421 4.3.2 too many"},
		"552 mailbox full":        {smtptest.Rcpt, reply("552 5.2.2 mailbox full"), retried, mail.StatusFailed, "smtp: rcpt: 552 5.2.2"},
		"message too large":       {smtptest.Mail, reply("552 5.3.4 too large"), failed, mail.StatusFailed, "smtp: mail: 552 5.3.4"},
		"no STARTTLS offered":     {smtptest.STARTTLS, nil, retried, mail.StatusFailed, "smtp: tls: the server does not offer STARTTLS"},
		"sender not allowed":      {smtptest.Mail, reply("553 5.7.1 not your address"), failed, mail.StatusFailed, "smtp: mail: 553 5.7.1"},
		"the dot and no reply":    {smtptest.Dot, (*smtptest.Conversation).Stall, retried, mail.StatusUnknown, "outcome unknown"},
		"the dot and no peer":     {smtptest.Dot, (*smtptest.Conversation).Close, retried, mail.StatusUnknown, "outcome unknown"},
		"the dot and half a line": {smtptest.Dot, func(c *smtptest.Conversation) { c.Write("250 o"); c.Close() }, retried, mail.StatusUnknown, "outcome unknown"},
	}
	for phase, name := range map[smtptest.Phase]string{
		smtptest.Greeting: "greeting", smtptest.Hello: "ehlo", smtptest.Mail: "mail", smtptest.Rcpt: "rcpt", smtptest.Data: "data", smtptest.Body: "body",
	} {
		if phase != smtptest.Body { // a small message is in the buffers before a peer's silence shows
			all["silence at "+name] = fault{phase, (*smtptest.Conversation).Stall, retried, mail.StatusFailed, "smtp: " + name + ": "}
		}
		all["close at "+name] = fault{phase, (*smtptest.Conversation).Close, retried, mail.StatusFailed, "smtp: "}
	}
	// A connection that ends while the body is written may show at the dot,
	// when the kernel has taken it all: that is not known.
	delete(all, "close at body")
	return all
}

// Each misbehaviour leaves the right state, the right error and the right next
// step, with the default retry strategy.
func TestFaultsOfTheServer(t *testing.T) {
	t.Parallel()
	for name, f := range faults() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			queue := newQueue(t, pool)
			peer, err := smtptest.NewRawPeer(func(c *smtptest.Conversation) {
				if f.script == nil {
					c.Serve()
					return
				}
				c.Until(f.at)
				f.script(c)
			})
			require.NoError(t, err)
			policy := smtp.Plaintext
			if f.at == smtptest.STARTTLS {
				policy = smtp.RequireSTARTTLS
			}
			transport := newHastyTransport(t, smtp.Integration{Host: "127.0.0.1", Port: peer.Port(), TLS: policy})
			t.Cleanup(func() { assert.NoError(t, peer.Close()) })
			id := publish(t, pool, queue)
			mailer := startWorker(t, pool, transport, welcome)

			job := awaitJob(t, queue, id, func(j *delivery.Job) bool { return j.LastError != "" })
			record := status(t, mailer, welcome)
			assert.Equal(t, f.status, record.Status)
			assert.Contains(t, record.LastError, f.text)
			assert.Contains(t, job.LastError, f.text)
			assert.NotContains(t, job.LastError, "ana@example.net")
			if f.next == failed {
				assert.Equal(t, delivery.StateFailed, job.State)
				assert.Zero(t, job.RetryCount)
				return
			}
			assert.Equal(t, delivery.StatePending, job.State)
			assert.Equal(t, 1, job.RetryCount)
			wait := job.NextRetryAt.Sub(job.StartedAt)
			assert.GreaterOrEqual(t, wait, time.Minute)
			assert.Less(t, wait, 90*time.Second+patience)
		})
	}
}

// newHastyTransport gives a silent server a second.
func newHastyTransport(t *testing.T, in smtp.Integration) *smtp.Transport {
	t.Helper()
	const limit = time.Second
	return startTransport(t, smtp.Config{
		Integrations: smtp.Single(in),
		Timeouts: smtp.Timeouts{
			Dial: limit, Greeting: limit, Hello: limit, TLS: limit, Auth: limit, Mail: limit, Rcpt: limit, Data: limit, Block: limit, Dot: limit,
		},
	})
}

// A server that closes a kept connection with 421, as many do after some
// messages or some idle time, costs no attempt.
func TestClosedReusedConnectionCostsNoAttempt(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	peer, err := smtptest.NewRawPeer(func(c *smtptest.Conversation) {
		if c.Number > 1 {
			c.Serve()
			return
		}
		c.Until(smtptest.Dot)
		c.Reply("250 taken")
		c.Until(smtptest.Mail)
		c.Reply("421 4.7.0 too many messages in this session")
		c.Close()
	})
	require.NoError(t, err)
	transport := newHastyTransport(t, smtp.Integration{Host: "127.0.0.1", Port: peer.Port(), TLS: smtp.Plaintext})
	t.Cleanup(func() { assert.NoError(t, peer.Close()) })
	mailer := newMailer(t, pool, transport)
	_, err = mailer.Send(t.Context(), mail.Delivery{Tenant: "acme", Key: "first", Kind: "k"}, message())
	require.NoError(t, err)

	startWorker(t, pool, transport, welcome)
	job := awaitJob(t, queue, publish(t, pool, queue), func(j *delivery.Job) bool { return j.State == delivery.StateCompleted })
	assert.Zero(t, job.RetryCount)
	assert.EqualValues(t, 1, job.LeaseNumber)
	assert.Equal(t, 2, peer.Connections())
	assert.Len(t, peer.Data(), 2)
}

func TestCertificateForAnotherHost(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	server, err := smtptest.NewServer(smtptest.Config{TLS: smtptest.StartTLS, Hosts: []string{"mail.other.example"}})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, server.Close()) })
	transport := newHastyTransport(t, smtp.Integration{Host: "127.0.0.1", Port: server.Port(), RootCAs: server.RootCAs()})
	mailer := startWorker(t, pool, transport, welcome)
	job := awaitJob(t, queue, publish(t, pool, queue), func(j *delivery.Job) bool { return j.RetryCount == 1 })
	assert.Equal(t, delivery.StatePending, job.State, "somebody may put the certificate right")
	assert.Contains(t, job.LastError, "smtp: tls: ")
	assert.Contains(t, job.LastError, "127.0.0.1")
	record := status(t, mailer, welcome)
	assert.Equal(t, mail.StatusFailed, record.Status)
	assert.Zero(t, server.Accepted())
}
