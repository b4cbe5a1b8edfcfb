// Package smtptest provides real SMTP servers on a socket of the loopback
// interface for tests, and for a sample program's inbox: one that keeps what it
// accepts, and one whose every reply is scripted. It delivers nothing anywhere,
// and what it keeps is in memory only.
//
// [Server] is a complete server (github.com/emersion/go-smtp) with STARTTLS,
// TLS, authentication, and rules for what to answer when. It is the one to
// start with: most tests want a server that takes a message and shows it.
//
// [RawPeer] is for what a complete server would never do: silence at the
// greeting, a reply in pieces, a connection that drops between two replies. Its
// script is a Go function over a [Conversation].
//
// # The withheld dot
//
// A client that has written the final dot (RFC 5321 section 4.1.1.4) and gets
// no reply cannot know whether its message was taken. A rule with a [Hold] at
// [Dot] makes just that: the server has taken the message, which
// [Server.Messages] shows, and keeps the reply to itself until the hold is
// released. [Server.Copies] counts how often a message was taken.
package smtptest
