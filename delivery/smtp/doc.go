// Package smtp transmits e-mails over SMTP and tells exactly what became of
// each: taken, not taken, or unknown. It keeps no queue and no record, and it
// never sends one message twice by itself; that is for packages delivery and
// delivery/mail.
//
// [Transport] implements mail.Sender, with the client of
// github.com/emersion/go-smtp for the introductions and transactions of its own,
// which are pipelined where the server allows it. [Compose] writes the message.
//
// # The hold on the dot
//
// A message is the server's from the moment that the server has read the final
// dot (RFC 5321 section 4.1.1.4). A Send therefore goes like this:
//
//		compose ─▶ dial ─▶ greeting ─▶ EHLO ─▶ TLS ─▶ AUTH      a reused connection begins at MAIL
//		                                            │
//		                  commit ◀─ body ◀─ DATA ◀─ RCPT ◀─ MAIL
//		                    │
//		                    ▼                     │ what an error means
//		                   dot written            │ before this line: not accepted
//		                    │  - - - - - - - - - -┤
//		                   reply                  │ 250: accepted   4xx, 5xx: not accepted   none: unknown
//
//	  - The whole message is composed before anything is dialled. Nothing that can
//	    fail on our side is left for later.
//	  - The body is on the wire, and only the five bytes CRLF "." CRLF are not,
//	    when commit is called. An abort closes the connection without them; a
//	    message is never ended early, since its beginning would be accepted.
//	  - The connection notes whether the kernel took those five bytes (under TLS:
//	    their record) whole. If it did not, the server cannot have them.
//	  - What happens after the 250, a line that drops or a QUIT that fails, does
//	    not change the result.
//
// # Failures
//
// Every error of Send is a *mail.SendError. How far a failure reaches and
// whether it can pass by itself is decided in one place, from the phase and the
// reply's codes; the server's words are passed on, and never matched.
//
// What the integration's owner must put right (a wrong password, a certificate
// for another host, STARTTLS not offered) reaches the integration and is not
// temporary: no repetition mends it, and the message is not at fault. Errors of
// the network are temporary and reach the server as long as the connection is
// being made, and the single message from RCPT on. A context that was cancelled
// reaches the one message only.
//
// # Connections
//
// Connections are kept per integration and used again, newest first, without a
// RSET between two messages. One that turns out dead, or closed by the server
// with 421, before DATA was answered is replaced by a fresh one within the same
// Send, so that it costs nobody an attempt.
//
// # Security
//
// TLS is required unless an integration asks for plaintext, is at least version
// 1.2, and verifies chain and host name. A password never leaves without TLS,
// other than to a loopback address. Addresses, passwords and message contents
// are in no log, error or metric.
package smtp
