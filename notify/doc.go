// Package notify turns a business event, written in the host's own
// transaction, into one e-mail: welcome for [UserRegistered], recovery code for
// [PasswordResetRequested]. It does not own the host's data: events carry
// identifiers, and what an e-mail says is loaded from the host when the e-mail
// is about to be sent. It has no HTTP routes.
//
// # One way through
//
//	host's transaction ──Outbox.Publish──▶ job ──delivery.Runner──▶ listener ──▶ MailService
//
// [Outbox] writes the event as a job of package delivery; it exists if and only
// if the transaction commits. A listener, one of [MailService.JobTypes], reads
// the event back and hands it to [MailService], the seed documents'
// NotificationMailService. That loads what it needs from the host's [Users],
// [Tenants] and [PasswordResets], decides whether there is still something to
// send, renders the view, and sends it under the event's business key through
// package delivery/mail. An event that is published twice, a job that runs
// twice and two processes that race give one e-mail.
//
// # How an event ends
//
//	sent, now or by an earlier job        completed
//	the attempt is no longer pending, or
//	the recipient has no usable address   completed, with the reason on record
//	the host says ErrNotFound, or a brand
//	or a code cannot be used              failed at once: no retry mends it
//	any other error of the host           retried
//	an error of delivery/mail             as that says
//
// What was failed and then put right is sent by delivery's Queue.RetryNow.
//
// # Whose look
//
// Account e-mails (both of today's) have the visual identity of the tenant's
// [WebsiteType], and the tenant's own where it has none.
//
// The e-mails are in Spanish, as HTML and as plain text. They hold no script,
// no style sheet from elsewhere and no image but the brand's logo, and they can
// be read without it. What comes from the host is text, never markup, and a
// name that holds a link is left out: whoever registers as "win at
// http://..." would otherwise have us mail advertisements.
//
// # What stays out of sight
//
// A recovery code is in the e-mail's body and nowhere else: not in the subject,
// which shows on locked screens, and in no job, log or error. Errors name ids,
// never addresses; the text of a host's own error ends up in the job's last
// error and in the log, so it should do the same.
package notify
