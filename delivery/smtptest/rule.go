package smtptest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/emersion/go-smtp"
)

// A Phase is a step of an SMTP session, where a [Rule] applies or a
// [Conversation] stops.
type Phase string

// The phases, in their order. A [Server] has rules for those from [Auth] on,
// apart from [Data], which go-smtp answers by itself; a [Conversation] stops at
// all of them.
const (
	Greeting Phase = "greeting" // the first line of the server
	Hello    Phase = "ehlo"
	STARTTLS Phase = "starttls"
	Auth     Phase = "auth"
	Mail     Phase = "mail" // MAIL FROM
	Rcpt     Phase = "rcpt" // RCPT TO
	Data     Phase = "data" // DATA
	Body     Phase = "body" // after the 354, before anything of the message was read
	Dot      Phase = "dot"  // the whole message was read
)

// A Rule changes what a [Server] does at one phase. Rules are consulted in
// order; the first one that applies decides, and where none does the server
// answers as usual.
//
// Reply, Hold and Drop may be combined: a rule holds first, and then drops the
// connection, or replies, or where both are zero goes on as usual.
//
// At [Dot] a Reply refuses the message. Without one the message has been taken
// before the rule holds or drops, as it happens when a server dies after it
// stored a message.
type Rule struct {
	At Phase
	// Recipient restricts the rule to transactions whose last recipient so far
	// has this address. Empty means any.
	Recipient string
	// Skip is how many times the rule is passed over before it applies.
	Skip int
	// Times is how many times it applies. Zero means always.
	Times int

	Reply Reply // the zero Reply means the usual one
	Hold  *Hold // waits here; nil means no wait
	Drop  bool  // closes the connection instead of replying
}

// A Reply is a negative reply of a server.
type Reply struct {
	Code     int    // 400 to 599
	Enhanced string // the enhanced status code (RFC 3463), such as "5.1.1"; empty for none
	Text     string // may have several lines, separated by "\n"
}

func (r Rule) validate() error {
	var faults []error
	switch r.At {
	case Auth, Mail, Rcpt, Body, Dot:
	default:
		faults = append(faults, fmt.Errorf("At: a server has no rules at phase %q; use a RawPeer", r.At))
	}
	if r.Skip < 0 || r.Times < 0 {
		faults = append(faults, errors.New("Skip, Times: negative"))
	}
	if r.Reply != (Reply{}) {
		if r.Reply.Code < 400 || r.Reply.Code > 599 {
			faults = append(faults, fmt.Errorf("Reply.Code: %d is no negative reply", r.Reply.Code))
		}
		if _, err := r.Reply.enhanced(); err != nil {
			faults = append(faults, fmt.Errorf("Reply.Enhanced: %w", err))
		}
	}
	return errors.Join(faults...)
}

func (r Reply) enhanced() (smtp.EnhancedCode, error) {
	if r.Enhanced == "" {
		return smtp.NoEnhancedCode, nil
	}
	var code smtp.EnhancedCode
	parts := strings.Split(r.Enhanced, ".")
	if len(parts) != len(code) {
		return code, fmt.Errorf("%q does not have three parts", r.Enhanced)
	}
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 10)
		if err != nil {
			return code, fmt.Errorf("%q has a part that is no number", r.Enhanced)
		}
		code[i] = int(n)
	}
	return code, nil
}

func (r Reply) err() error {
	if r == (Reply{}) {
		return nil
	}
	enhanced, err := r.enhanced()
	if err != nil {
		return err
	}
	return &smtp.SMTPError{Code: r.Code, EnhancedCode: enhanced, Message: r.Text}
}

// A Hold is a point where a server waits until a test lets it go on.
type Hold struct {
	reached, released chan struct{}
	reach, release    func()
}

// NewHold returns a hold that nobody has reached.
func NewHold() *Hold {
	h := &Hold{reached: make(chan struct{}), released: make(chan struct{})}
	h.reach = sync.OnceFunc(func() { close(h.reached) })
	h.release = sync.OnceFunc(func() { close(h.released) })
	return h
}

// Reached returns a channel that is closed when the server first waits here.
func (h *Hold) Reached() <-chan struct{} { return h.reached }

// Release lets the server go on, now and whenever it comes here again.
func (h *Hold) Release() { h.release() }

// wait waits for the release, or until closing is closed.
func (h *Hold) wait(closing <-chan struct{}) {
	h.reach()
	select {
	case <-h.released:
	case <-closing:
	}
}

// A script holds rules and counts how often each was met.
type script struct {
	mu    sync.Mutex
	rules []Rule
	met   []int
}

func (s *script) set(rules []Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = append([]Rule(nil), rules...)
	s.met = make([]int, len(rules))
}

// next returns the rule that applies now, and whether there is one.
func (s *script) next(at Phase, recipient string) (Rule, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, rule := range s.rules {
		if rule.At != at || rule.Recipient != "" && rule.Recipient != recipient {
			continue
		}
		s.met[i]++
		if s.met[i] <= rule.Skip || rule.Times > 0 && s.met[i] > rule.Skip+rule.Times {
			continue
		}
		return rule, true
	}
	return Rule{}, false
}
