// Package diagnosis says in the words of a tenant's administrator what came of
// a message: what happened, and what to do about it, in Spanish, English and
// Portuguese. It explains what a [mail.Sender] returned, and does not decide
// anything: whether a message is tried again is for [mail.SendError.Retryable]
// and the queue.
//
// It is for the result of a test e-mail, and for the record of one recipient in
// a run of many. Neither text nor fields hold an e-mail address or a secret.
//
// A diagnosis goes by types and numbers: the phase, the codes and the reach of
// a [mail.SendError], and the types of what it wraps. Words are looked at only
// where they are the server's own and its codes say too little: 550 5.7.1 is
// said of relaying, of spam, of senders and of recipients alike.
package diagnosis
