// Package notify turns a business event, written in the host's own
// transaction, into one e-mail: a welcome, a recovery code, a confirmation with
// its tickets, the news that a date was rescheduled or suspended, or a kind of
// the host's own. It does not own the host's data: events carry identifiers, and
// what an e-mail says is loaded from the host when the e-mail is about to be
// sent. It has no HTTP routes.
//
// # One way through
//
//	host's transaction ──Outbox.Publish──▶ job ──delivery.Runner──▶ listener ──▶ MailService
//
// [Outbox] writes the event as a job of package delivery; it exists if and only
// if the transaction commits. A listener, one of [MailService.JobTypes], reads
// the event back and hands it to [MailService], the seed documents'
// NotificationMailService. That loads what it needs from the host, decides
// whether there is still something to send, renders the view, and sends it under
// the event's business key through package delivery/mail. An event that is
// published twice, a job that runs twice and two processes that race give one
// e-mail.
//
//	event                           e-mail                   key
//	UserRegistered                  welcome                  welcome:{tenant_code}:{user_id}
//	PasswordResetRequested          recovery code            password-reset:{attempt_id}
//	PurchasePaid                    confirmation, tickets    purchase-confirmed:{purchase_id}
//	EventDateRescheduledPurchase    new date                 event-date-rescheduled:{source}:{destination}:{purchase_id}
//	EventDateSuspendedPurchase      date suspended           event-date-suspended:{event_date_id}:{purchase_id}
//
// One key is one e-mail for ever: a date that is moved from A to B, back, and to
// B again gives the e-mail from A to B once.
//
// # To every purchase of a date
//
// [EventDateRescheduled] and [EventDateSuspended] fan out: their job lists the
// purchases of the date, which the host supplies as an iterator, and writes an
// event for each, a thousand to a transaction. It keeps its place together with
// them, so that it can be cut anywhere and goes on without a second event for a
// purchase, and it never holds more than a thousand. [FanOut] does the same for a
// host's own events.
//
// # The host's side
//
// The interfaces [Tenants], [Users], [PasswordResets], [Purchases], [Tickets] and
// [EventDates] are the host's to implement; package notify/notifytest checks an
// implementation. Each call has MailServiceConfig.LoadTimeout. A host that
// answers later, never, or with a panic fails that attempt of that job, with the
// cause on record, and nothing else.
//
// A host's own e-mail is a [Kind]: a key, a function that loads, and a view. It
// has the same guarantees, and the same duty as every handler: Load runs again
// for each attempt, so it must be idempotent or tolerate a repeat.
//
// # How an event ends
//
//	sent, now or by an earlier job        completed
//	the attempt is no longer pending, the
//	purchase was cancelled, or there is
//	no address that can be used           completed, with the reason on record
//	the host says ErrNotFound, or what it
//	gave cannot be used                   failed at once: no retry mends it
//	any other error of the host           retried
//	an error of delivery/mail             as that says
//
// What was failed and then put right is sent by delivery's Queue.RetryNow.
//
// # Whose look, which language
//
// Account e-mails (welcome, recovery) have the visual identity of the tenant's
// [WebsiteType], and the tenant's own where it has none; the others have the
// tenant's. The reader's language is the user's, else the tenant's, else Spanish;
// there are views in Spanish, English and Portuguese. [NewViews] takes a host's
// own files in the place of the library's, and tells what is wrong with them;
// [Views.Previews] renders every e-mail without sending it.
//
// The e-mails hold no script, no style sheet from elsewhere and no image but the
// brand's logo, and they can be read without it. What comes from the host is
// text, never markup, and a name that holds a link is left out: whoever registers
// as "win at http://..." would otherwise have us mail advertisements.
//
// # Test e-mails
//
// [MailService.SendTest] and [MailService.SendIntegrationValidation] send every
// time that they are called, keep no record, and say in words what happened.
//
// # What stays out of sight
//
// A recovery code is in the e-mail's body and nowhere else: not in the subject,
// which shows on locked screens, and in no job, log or error. Errors name ids,
// never addresses; the text of a host's own error ends up in the job's last
// error and in the log, so it should do the same.
package notify
