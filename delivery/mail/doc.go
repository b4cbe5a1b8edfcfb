// Package mail delivers one e-mail for each business key: [Mailer.Send] with a
// key whose e-mail was sent sends nothing, whoever calls, how often, and from
// which process. It does not promise that a message is never sent twice: SMTP
// has no confirmation that commits together with the database.
//
// (The seed documents' IdempotentEmailDeliveryService is the [Mailer].)
//
// # States of a delivery
//
//	            claim                        250 from the server
//	(nothing) ────────▶ processing ───────────────────────────────▶ sent
//	                      │  ▲  │
//	     refused, aborted │  │  │ dot written, no reply
//	                      ▼  │  ▼
//	                  failed │ unknown ──(policy hold)──▶ Mailer.Resolve
//	                      │  │  │
//	                      └──┴──┘ claim: failed always; unknown by policy
//	                              resend; processing when the claim has expired
//
// A claim is a lease with a fencing number. Claims, renewals and failures
// compare it; "sent" does not: that the server took the message is a fact, and
// is written whoever owns the claim by then. No transaction is open while SMTP
// is spoken: claim (committed), send, finish (committed).
//
// # Where a duplicate can come from
//
// The window lies between the server's 250 and the record of it. In it:
//
//   - The process dies. The claim expires, another attempt sends again.
//   - The database cannot be reached. The mailer holds the result and writes
//     it when the database is back, for as long as the process lives. Nobody
//     takes a claim over in the first lease time after a restart of
//     PostgreSQL, nor right when it is found expired: its owner is given
//     notice, a quarter of the lease and at most thirty seconds.
//   - This host alone is cut off from the database for longer than a lease,
//     while another one is not: the other takes the claim over.
//
// A reply to the final dot that never comes leaves the outcome unknown (RFC
// 1047). Kinds with the policy [Resend], the default, send again; kinds with
// [Hold] wait for [Mailer.Resolve]. Every attempt has the same Message-ID and
// Date, so that receivers that look can show one copy.
//
// # One key is one e-mail, for ever
//
// A key is never sent again by itself. An event date that moves from A to B,
// back, and to B again sends the e-mail of A to B once. Deleting old rows
// ([MailerConfig].Retention) ends that memory for the deleted keys.
package mail
