package diagnosis

import "regexp"

// wellKnown are the words by which replies with codes such as 550 5.7.1, or
// with no enhanced code, can be told apart. The first row that matches decides.
// Sources: support.google.com/a/answer/3726730 (Gmail),
// docs.aws.amazon.com/ses "SMTP response codes" (SES), twilio.com/docs/sendgrid
// "SMTP errors and troubleshooting", help.yahoo.com/kb/SLN7253,
// postmarkapp.com/developer "API error codes", learn.microsoft.com (as for the
// enhanced codes), and the sources of Postfix (smtpd), Exim and qmail, and of
// cPanel's Exim.
var wellKnown = []struct {
	words *regexp.Regexp
	cause Cause
	early bool // whether it can be said before there is a message
}{
	// Postfix, Gmail: Must issue a STARTTLS command first. Exchange: STARTTLS
	// is required to send mail. Gmail: TLS required for RCPT domain.
	{words(`issue a starttls|(starttls|tls|encryption|secure connection) (is )?required`), EncryptionRequired, true},
	// Gmail, SES: Authentication required. Microsoft 365: Client not
	// authenticated to send mail. Postfix: Sender address rejected: not logged
	// in. cPanel: SMTP AUTH is required. SendGrid: Unauthenticated senders not
	// allowed.
	{words(`\bauth(entication)? (is )?required|client (was )?not authenticated|not logged in|unauthenticated senders|must (first )?authenticate`),
		LoginRequired, true},
	// Postfix, Exim: message size exceeds. SES: Message is too long. Gmail:
	// exceeded Google's message size limits.
	{words(`size (exceeds|limit)|exceeds? .{0,30}\bsize|message (is )?too (long|large|big)`), TooLarge, false},
	// SES: Throttling failure: Maximum sending rate, Daily message quota. Gmail:
	// Daily user sending limit, Email quota exceeded, unusual rate. SendGrid:
	// Maximum credits exceeded, too frequent connects. cPanel: has exceeded the
	// max emails per hour. Postfix: too many connections, too much mail.
	// Microsoft 365: Submission quota, thread limit exceeded.
	{words(`throttl|(sending|unusual) rate|rate.?limit|(message|e-?mail|sending|submission|daily|hourly) quota|credits exceeded` +
		`|(sending|daily|hourly|relay|thread|connection|messaging|recipient) limits?|(per|in an) hour|receiving mail (too|at a rate)` +
		`|too (many|much) (concurrent|connections|mail|messages|e-?mails|login|sessions|recipients|smtp)|too frequent`),
		TooMany, true},
	// Gmail: over quota, out of storage space. Dovecot: Quota exceeded. Exim:
	// mailbox is full.
	{words(`quota|out of storage|(mail|in)box.{0,30}\bfull|full (mail|in)box`), MailboxFull, false},
	// Postfix: Relay access denied. Exim: relay not permitted. Exchange: Unable
	// to relay. Gmail: Mail relay denied, Invalid credentials for relay. qmail:
	// not in my list of allowed rcpthosts.
	{words(`relay(ing)? (access )?(is )?(denied|not (permitted|allowed)|prohibited)|(unable|not permitted|not allowed) to relay` +
		`|do(es)? not relay|credentials for relay|rcpthosts`), RelayDenied, false},
	// Gmail: does not have authentication information, fails to pass
	// authentication checks, DMARC policy. Yahoo: 554 5.7.9 Message not accepted
	// for policy reasons. Policy services of Postfix: SPF fail.
	{words(`\b(spf|dkim|dmarc)\b|authentication (checks|information)|sender is unauthenticated|not accepted for policy reasons`),
		SenderUnproven, false},
	// Postfix: blocked using zen.spamhaus.org, Client host rejected. Exim: is in
	// a black list. Gmail: low reputation, not authorized to send email directly.
	// Microsoft 365: banned sending IP. SES: Sending suspended for this account.
	{words(`spamhaus|spamcop|barracuda|(block|black|deny) ?list|blocked using|\b(dns|r)bl\b|client host rejected|reputation` +
		`|authorized to send email directly|banned send|reverse (dns|hostname)|ptr record|sending .{0,12}(suspended|paused|disabled)`),
		Blocked, true},
	// SES: Email address is not verified, is not authorized to perform
	// ses:SendRawEmail. SendGrid: does not match a verified Sender Identity, not
	// authorized to send from that email address. Postmark: Sender Signature.
	// Postfix: Sender address rejected: not owned by user. Exim: Sender verify
	// failed. Microsoft 365: permissions to send as this sender.
	{words(`not verified|sender (identity|signature)|not owned by|sender (address )?(rejected|denied|refused)|sender verif\w+ failed` +
		`|not authori[sz]ed to (perform|send from)|to send as\b|not allowed to send`), SenderNotAllowed, false},
	// Gmail: likely unsolicited mail, potential security issue. Exim: classified
	// as SPAM.
	{words(`\bspam|unsolicited|virus|malware|phish|security issue`), MessageRefused, false},
	// Postfix: User unknown, Recipient address rejected. Exim: Unrouteable
	// address. cPanel: No Such User Here. Postmark: marked as inactive.
	{words(`(user|recipient|address|mailbox|account) .{0,40}(unknown|not (exist|found)|doesn't exist|disabled|inactive|unavailable)` +
		`|unknown (user|recipient|address|mailbox)|no such (user|recipient|mailbox|address|person)|no mailbox` +
		`|unrout?eable|(user|mailbox) (unknown|unavailable)|recipient (address )?(rejected|denied|refused)|invalid (recipient|mailbox)`),
		RecipientRefused, false},
}

func words(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)` + pattern) }

// byWords reports whether a reply has well-known words, and what they mean. A
// full mailbox is known by its code, unless the words say that it is the
// sender's (Microsoft 365: 5.2.2 Submission quota exceeded).
func (r reply) byWords() (Cause, bool) {
	for _, known := range wellKnown {
		if (known.early || !r.early()) && known.words.MatchString(r.text) {
			return known.cause, true
		}
	}
	if r.enhanced == "4.2.2" || r.enhanced == "5.2.2" {
		return MailboxFull, true
	}
	return "", false
}
