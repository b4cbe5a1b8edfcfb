package diagnosis_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/diagnosis"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

// What servers reply, over the wire. Lines are separated by "|".
func TestReplies(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		at    smtptest.Phase
		reply string
		cause diagnosis.Cause
	}{
		// the greeting
		{smtptest.Greeting, "421 mx.example.org Service not available, closing transmission channel", diagnosis.ServerClosed},
		{smtptest.Greeting, "554 No SMTP service here", diagnosis.ServerClosed},
		{smtptest.Greeting, "421 4.7.0 mx.example.org Error: too many connections from 192.0.2.1", diagnosis.TooMany},
		{smtptest.Greeting, "421 Too many concurrent SMTP connections", diagnosis.TooMany},
		{smtptest.Greeting, "554-mx.example.org|554 Your access to this mail system has been rejected due to the sending MTA's poor reputation.", diagnosis.Blocked},
		{smtptest.Greeting, "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org", diagnosis.Blocked},

		// EHLO
		{smtptest.Hello, "550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)", diagnosis.ServerClosed},
		{smtptest.Hello, "504 5.5.2 <x>: Helo command rejected: need fully-qualified hostname", diagnosis.ServerClosed},
		{smtptest.Hello, "421 4.3.2 Service shutting down", diagnosis.ServerBusy},

		// STARTTLS
		{smtptest.STARTTLS, "454 4.7.0 TLS not available due to local problem", diagnosis.ServerBusy},
		{smtptest.STARTTLS, "502 5.5.1 Unimplemented", diagnosis.EncryptionMissing},

		// AUTH
		{smtptest.Auth, "535 5.7.8 Error: authentication failed: UGFzc3dvcmQ6", diagnosis.PasswordRefused},
		{smtptest.Auth, "535-5.7.8 Username and Password not accepted. For more information, go to|535 5.7.8 https://support.google.com/mail/?p=BadCredentials d2e1a72fcca58-2a1 - gsmtp", diagnosis.PasswordRefused},
		{smtptest.Auth, "534-5.7.9 Application-specific password required.|534 5.7.9 https://support.google.com/mail/?p=InvalidSecondFactor - gsmtp", diagnosis.PasswordRefused},
		{smtptest.Auth, "535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant.", diagnosis.PasswordRefused},
		{smtptest.Auth, "535 5.7.3 Authentication unsuccessful", diagnosis.PasswordRefused},
		{smtptest.Auth, "535 Authentication Credentials Invalid", diagnosis.PasswordRefused},
		{smtptest.Auth, "535 Incorrect authentication data", diagnosis.PasswordRefused},
		{smtptest.Auth, "432 4.7.12 A password transition is needed", diagnosis.PasswordRefused},
		{smtptest.Auth, "550 user unknown", diagnosis.PasswordRefused},
		{smtptest.Auth, "503 AUTH command used when not advertised", diagnosis.LoginUnavailable},
		{smtptest.Auth, "504 5.7.4 Unrecognized authentication type", diagnosis.LoginUnavailable},
		{smtptest.Auth, "538 5.7.11 Encryption required for requested authentication mechanism", diagnosis.EncryptionRequired},
		{smtptest.Auth, "530 5.7.0 Must issue a STARTTLS command first", diagnosis.EncryptionRequired},
		{smtptest.Auth, "454 4.7.0 Temporary authentication failure: Connection lost to authentication server", diagnosis.ServerBusy},
		{smtptest.Auth, "454 4.7.0 Too many login attempts, please try again later.", diagnosis.TooMany},
		{smtptest.Auth, "451 Authentication failed: Maximum credits exceeded", diagnosis.TooMany},

		// MAIL FROM
		{smtptest.Mail, "530 5.7.0 Must issue a STARTTLS command first.", diagnosis.EncryptionRequired},
		{smtptest.Mail, "451 5.7.3 STARTTLS is required to send mail", diagnosis.EncryptionRequired},
		{smtptest.Mail, "530-5.7.0 Authentication Required. For more information, go to|530 5.7.0 https://support.google.com/mail/?p=WantAuthError - gsmtp", diagnosis.LoginRequired},
		{smtptest.Mail, "530 5.7.57 Client not authenticated to send mail. [X.PROD.OUTLOOK.COM]", diagnosis.LoginRequired},
		{smtptest.Mail, "530 5.5.1 Authentication Required", diagnosis.LoginRequired},
		{smtptest.Mail, "530 not yet", diagnosis.LoginRequired},
		{smtptest.Mail, "538 not like this", diagnosis.EncryptionRequired},
		{smtptest.Mail, "535 5.7.1 Authentication failed", diagnosis.PasswordRefused},
		{smtptest.Mail, "503 5.5.1 Error: send AUTH command first", diagnosis.LoginRequired},
		{smtptest.Mail, "550 Unauthenticated senders not allowed", diagnosis.LoginRequired},
		{smtptest.Mail, "550 5.1.0 <club@example.org>: Sender denied", diagnosis.SenderNotAllowed},
		{smtptest.Mail, "553 5.1.3 bad sender", diagnosis.SenderNotAllowed},
		{smtptest.Mail, "501 Invalid MAIL FROM address provided", diagnosis.Other},
		{smtptest.Mail, "552 5.3.4 Message size exceeds fixed limit", diagnosis.TooLarge},
		{smtptest.Mail, "552 Message size exceeds maximum permitted", diagnosis.TooLarge},
		{smtptest.Mail, "452 4.3.1 Insufficient system storage", diagnosis.ServerBusy},
		{smtptest.Mail, "550 5.4.5 Daily user sending limit exceeded. For more information go to https://support.google.com/a/answer/166852", diagnosis.TooMany},
		{smtptest.Mail, "450 4.1.8 <club@example.org>: Sender address rejected: Domain not found", diagnosis.SenderNotAllowed},

		// RCPT TO
		{smtptest.Rcpt, "554 5.7.1 <ana@example.net>: Relay access denied", diagnosis.RelayDenied},
		{smtptest.Rcpt, "454 4.7.1 <ana@example.net>: Relay access denied", diagnosis.RelayDenied},
		{smtptest.Rcpt, "550 relay not permitted", diagnosis.RelayDenied},
		{smtptest.Rcpt, "550 5.7.1 Unable to relay", diagnosis.RelayDenied},
		{smtptest.Rcpt, "550 5.7.54 SMTP; Unable to relay recipient in non-accepted domain", diagnosis.RelayDenied},
		{smtptest.Rcpt, "550-5.7.1 Invalid credentials for relay [192.0.2.1]. The IP address you've|550 5.7.1 registered in your Workspace SMTP Relay service doesn't match.", diagnosis.RelayDenied},
		{smtptest.Rcpt, "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)", diagnosis.RelayDenied},
		{smtptest.Rcpt, "550 SMTP AUTH is required for message submission on port 587", diagnosis.LoginRequired},
		{smtptest.Rcpt, "553 5.7.1 <club@example.org>: Sender address rejected: not logged in", diagnosis.LoginRequired},
		{smtptest.Rcpt, "553 5.7.1 <club@example.org>: Sender address rejected: not owned by user robot", diagnosis.SenderNotAllowed},
		{smtptest.Rcpt, "550 Sender verify failed", diagnosis.SenderNotAllowed},
		{smtptest.Rcpt, "550 The from address does not match a verified Sender Identity. Mail cannot be sent until this error is resolved.", diagnosis.SenderNotAllowed},
		{smtptest.Rcpt, "550 5.1.1 <ana@example.net>: Recipient address rejected: User unknown in local recipient table", diagnosis.RecipientRefused},
		{smtptest.Rcpt, "550-5.1.1 The email account that you tried to reach does not exist.|550 5.1.1 https://support.google.com/mail/?p=NoSuchUser - gsmtp", diagnosis.RecipientRefused},
		{smtptest.Rcpt, "550 5.4.1 Recipient address rejected: Access denied. [X.prod.protection.outlook.com]", diagnosis.RecipientRefused},
		{smtptest.Rcpt, "550 No Such User Here", diagnosis.RecipientRefused},
		{smtptest.Rcpt, "550 Unrouteable address", diagnosis.RecipientRefused},
		{smtptest.Rcpt, "550 5.2.1 The email account that you tried to reach is disabled.", diagnosis.RecipientRefused},
		{smtptest.Rcpt, "556 5.1.10 Recipient address has null MX", diagnosis.RecipientRefused},
		{smtptest.Rcpt, "450 4.1.2 <ana@example.net>: Recipient address rejected: Domain not found", diagnosis.RecipientRefused},
		{smtptest.Rcpt, "450 4.1.1 <ana@example.net>: Recipient address rejected: unverified address", diagnosis.ServerBusy},
		{smtptest.Rcpt, "450 4.2.0 <ana@example.net>: Recipient address rejected: Greylisted", diagnosis.ServerBusy},
		{smtptest.Rcpt, "552 5.2.2 <ana@example.net> Quota exceeded (mailbox for user is full)", diagnosis.MailboxFull},
		{smtptest.Rcpt, "452 4.2.2 The recipient's inbox is out of storage space.", diagnosis.MailboxFull},
		{smtptest.Rcpt, "452 4.2.2 no room", diagnosis.MailboxFull},
		{smtptest.Rcpt, "552 storage allocation", diagnosis.MailboxFull},
		{smtptest.Rcpt, "452 4.5.3 Your message has too many recipients.", diagnosis.TooMany},
		{smtptest.Rcpt, "450 4.2.1 The user you are trying to contact is receiving mail too quickly.", diagnosis.ServerBusy},
		{smtptest.Rcpt, "550 Domain example.org has exceeded the max emails per hour (500/500 (100%)) allowed. Message discarded.", diagnosis.TooMany},
		{smtptest.Rcpt, "554 5.7.1 <unknown[192.0.2.1]>: Client host rejected: Access denied", diagnosis.Blocked},
		{smtptest.Rcpt, "450 4.7.25 Client host rejected: cannot find your hostname, [192.0.2.1]", diagnosis.Blocked},
		{smtptest.Rcpt, "550 rejected because 192.0.2.1 is in a black list at zen.spamhaus.org", diagnosis.Blocked},
		{smtptest.Rcpt, "550 5.7.23 <ana@example.net>: Message rejected due to: SPF fail - not authorized", diagnosis.SenderUnproven},
		{smtptest.Rcpt, "554 5.7.1 go away", diagnosis.MessageRefused},
		{smtptest.Rcpt, "421 4.4.5 Server busy, try again later.", diagnosis.ServerBusy},

		// DATA and the final dot
		{smtptest.Data, "451 4.3.0 Temporary System Problem. Try again later", diagnosis.ServerBusy},
		{smtptest.Dot, "554 Message rejected: Email address is not verified. The following identities failed the check in region US-EAST-1: Club <club@example.org>, club@example.org", diagnosis.SenderNotAllowed},
		{smtptest.Dot, "554 Access denied: User `arn:aws:iam::1:user/x' is not authorized to perform `ses:SendRawEmail' on resource `arn:aws:ses:us-east-1:1:identity/club@example.org'", diagnosis.SenderNotAllowed},
		{smtptest.Dot, "554 5.2.252 SendAsDenied; club@example.org not allowed to send as eve@example.org", diagnosis.SenderNotAllowed},
		{smtptest.Dot, "550 5.7.60 SMTP; Client does not have permissions to send as this sender", diagnosis.SenderNotAllowed},
		{smtptest.Dot, "454 Throttling failure: Maximum sending rate exceeded.", diagnosis.TooMany},
		{smtptest.Dot, "454 Throttling failure: Daily message quota exceeded.", diagnosis.TooMany},
		{smtptest.Dot, "432 4.3.2 STOREDRV.ClientSubmit; sender thread limit exceeded", diagnosis.TooMany},
		{smtptest.Dot, "550 5.2.2 Submission quota exceeded", diagnosis.TooMany},
		{smtptest.Dot, "550 5.7.1 Email quota exceeded.", diagnosis.TooMany},
		{smtptest.Dot, "421-4.7.28 Gmail has detected an unusual rate of unsolicited mail originating|421 4.7.28 from your IP address.", diagnosis.TooMany},
		{smtptest.Dot, "554 Sending suspended for this account.", diagnosis.Blocked},
		{smtptest.Dot, "552 Message is too long.", diagnosis.TooLarge},
		{smtptest.Dot, "552-5.3.4 Your message exceeded Google's message size limits.", diagnosis.TooLarge},
		{smtptest.Dot, "552 no", diagnosis.TooLarge},
		{smtptest.Dot, "552-5.7.0 This message was blocked because its content presents a potential|552 5.7.0 security issue.", diagnosis.MessageRefused},
		{smtptest.Dot, "552 5.7.0 no", diagnosis.MessageRefused},
		{smtptest.Dot, "550-5.7.26 Your email has been blocked because the sender is unauthenticated.|550 5.7.26 Gmail requires all senders to authenticate with either SPF or DKIM.", diagnosis.SenderUnproven},
		{smtptest.Dot, "550 5.7.1 Unauthenticated email from example.org is not accepted due to domain's DMARC policy.", diagnosis.SenderUnproven},
		{smtptest.Dot, "554 5.7.9 Message not accepted for policy reasons. See https://postmaster.yahooinc.com/error-codes", diagnosis.SenderUnproven},
		{smtptest.Dot, "550 5.7.515 Access denied, sending domain example.org doesn't meet the required authentication level.", diagnosis.SenderUnproven},
		{smtptest.Dot, "550 5.7.509 Access denied, sending domain example.org does not pass DMARC verification", diagnosis.SenderUnproven},
		{smtptest.Dot, "550-5.7.1 [192.0.2.1] Our system has detected that this message is likely unsolicited|550 5.7.1 mail. To reduce the amount of spam sent to Gmail, this message has been blocked.", diagnosis.MessageRefused},
		{smtptest.Dot, "550-5.7.1 [192.0.2.1] Gmail has detected that this message is likely suspicious due to|550 5.7.1 the very low reputation of the sending domain.", diagnosis.Blocked},
		{smtptest.Dot, "550-5.7.1 The IP you're using to send mail is not authorized to send email directly to our|550 5.7.1 servers. Please use the SMTP relay at your service provider instead.", diagnosis.Blocked},
		{smtptest.Dot, "550 5.7.606 Access denied, banned sending IP [192.0.2.1]", diagnosis.Blocked},
		{smtptest.Dot, "550 5.7.708 Service unavailable. Access denied, traffic not accepted from this IP.", diagnosis.Blocked},
		{smtptest.Dot, "550 This message was classified as SPAM and may not be delivered", diagnosis.MessageRefused},
		{smtptest.Dot, "554 5.7.0 Reject, id=1 - BANNED: invoice.exe", diagnosis.MessageRefused},
		{smtptest.Rcpt, "550 5.7.1 Spam is not wanted here", diagnosis.MessageRefused},
		{smtptest.Rcpt, "550 we take no unsolicited mail", diagnosis.MessageRefused},
		{smtptest.Dot, "550 5.6.0 Lone CR or LF in body", diagnosis.MessageRefused},
		{smtptest.Dot, "451 4.7.1 looks like spam, try again later", diagnosis.ServerBusy},
		{smtptest.Dot, "554 5.7.1 Message is too large", diagnosis.TooLarge},
		{smtptest.Dot, "554 delivery error: the mailbox is full", diagnosis.MailboxFull},
		{smtptest.Rcpt, "550 Mailbox quota exceeded", diagnosis.MailboxFull},
		{smtptest.Dot, "554 delivery error: unknown user", diagnosis.RecipientRefused},
		{smtptest.Dot, "550 5.1.1 no such user", diagnosis.RecipientRefused},
		{smtptest.Dot, "554 Transaction failed", diagnosis.MessageRefused},
		{smtptest.Dot, "451 Temporary service failure", diagnosis.ServerBusy},
		{smtptest.Dot, "421 closing", diagnosis.ServerBusy},
	} {
		t.Run(fmt.Sprint(test.at, " ", test.reply), func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(test.reply, "|")
			// The last line of a reply has a space behind its code.
			last := len(lines) - 1
			lines[last] = lines[last][:3] + " " + lines[last][4:]
			peer := startPeer(t, func(c *smtptest.Conversation) {
				c.Extensions = []string{"AUTH PLAIN", "STARTTLS"}
				c.Until(test.at)
				c.Reply(lines...)
				c.Serve()
			})
			in := withPassword(plain(peer.Port()))
			if test.at == smtptest.STARTTLS {
				in.TLS = smtp.RequireSTARTTLS
			}
			d := sent(t, in, smtp.Timeouts{})
			assert.Equal(t, test.cause, d.Cause)
			assert.Equal(t, test.reply[:3], fmt.Sprint(d.Code))
			assert.Equal(t, test.at == smtptest.STARTTLS, d.Server == "", "quoted: %q", d.Server)
			for _, language := range languages {
				assert.Contains(t, d.Text(language), d.Server)
				assert.Contains(t, d.Text(language), strings.TrimSpace(test.reply[:3]+" "+d.Enhanced))
			}
		})
	}
}

// Whatever a server replies, when and with what code, there is a cause, and no
// reply that passes by itself is blamed on the message.
func TestEveryReplyHasACause(t *testing.T) {
	t.Parallel()
	causes := everyCause(t)
	for _, phase := range []mail.Phase{mail.PhaseGreeting, mail.PhaseHello, mail.PhaseTLS, mail.PhaseAuth, mail.PhaseMail,
		mail.PhaseRcpt, mail.PhaseData, mail.PhaseBody, mail.PhaseDot} {
		for code := 400; code < 600; code++ {
			for _, enhanced := range []string{"", "X.0.0", "X.1.0", "X.1.1", "X.2.2", "X.3.0", "X.4.7", "X.5.4", "X.6.0", "X.7.0", "X.7.1"} {
				class := fmt.Sprint(code / 100)
				d := diagnosis.OfError(&mail.SendError{Phase: phase, Code: code, Enhanced: strings.Replace(enhanced, "X", class, 1)})
				if !assert.Contains(t, causes, d.Cause) {
					return
				}
				if code < 500 && (d.Cause == diagnosis.MessageRefused || d.Cause == diagnosis.RecipientRefused) {
					t.Fatalf("%s %d %s: %s", phase, code, enhanced, d.Cause)
				}
			}
		}
	}
}

func TestQuotations(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"no":                                    "no",
		"<ana@example.net>: unknown":            "…: unknown",
		"ana@example.net unknown":               "… unknown",
		`"ana pérez"@example.net unknown`:       "… unknown",
		"o'brien@example.net unknown":           "… unknown",
		"'ana@example.net' unknown":             "… unknown",
		"ana@[192.0.2.1] unknown":               "… unknown",
		"user <ana> unknown":                    "user … unknown",
		"unknown <ana@exam":                     "unknown …",
		"unknown user <ana":                     "unknown user …",
		"see https://example.com/why?to=ana":    "see https://example.com/why",
		"see https://example.com/ana%40x.org/1": "see https:…",
		"see http://example.com/a;b#c.":         "see http://example.com/a",
		"<https://example.com/help>":            "<https://example.com/help>",
		"two\r\n lines\x00":                     "two lines",
		"«quoted» “twice” 'and' more":           `quoted" "twice" 'and' more`,
		"\u202Eturned\u200B":                    "turned",
		"\xff":                                  "\uFFFD",
		" ":                                     "",
	} {
		d := diagnosis.OfError(&mail.SendError{Phase: mail.PhaseRcpt, Code: 550, Err: fmt.Errorf("%s", said)})
		assert.Equal(t, want, d.Server, "%q", said)
		assertPresentable(t, d)
	}
}

func TestCodesThatAreNone(t *testing.T) {
	t.Parallel()
	for _, code := range []int{-1, 42, 199, 600} {
		assert.Zero(t, diagnosis.OfError(&mail.SendError{Phase: mail.PhaseRcpt, Code: code}).Code)
	}
	for _, enhanced := range []string{"ana@example.net", "5.1", "1.1.1", "5.1.1 x"} {
		assert.Empty(t, diagnosis.OfError(&mail.SendError{Phase: mail.PhaseRcpt, Code: 550, Enhanced: enhanced}).Enhanced)
	}
}
