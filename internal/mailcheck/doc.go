// Package mailcheck looks at finished e-mails from outside, for tests: the
// bytes with [Wire], what a spam filter thinks of them with [SpamScores], and
// the HTML with [HTML]. It does not send them, and it does not see them drawn;
// package browser does.
package mailcheck
