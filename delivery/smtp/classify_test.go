package smtp

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/delivery/mail"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	const (
		passes = true
		stays  = false
	)
	for _, test := range []struct {
		phase     mail.Phase
		code      int
		enhanced  string
		reach     mail.Reach
		temporary bool
	}{
		// the server as such
		{mail.PhaseGreeting, 421, "", mail.ReachServer, passes},
		{mail.PhaseGreeting, 421, "4.7.0", mail.ReachIntegration, passes}, // too many connections
		{mail.PhaseGreeting, 554, "", mail.ReachServer, passes},
		{mail.PhaseGreeting, 554, "5.7.1", mail.ReachServer, passes}, // black list
		{mail.PhaseHello, 451, "", mail.ReachServer, passes},
		{mail.PhaseMail, 421, "4.3.2", mail.ReachServer, passes},
		{mail.PhaseRcpt, 421, "4.4.2", mail.ReachServer, passes},
		{mail.PhaseRcpt, 451, "4.3.0", mail.ReachServer, passes},
		{mail.PhaseMail, 451, "", mail.ReachServer, passes},
		{mail.PhaseMail, 452, "4.3.1", mail.ReachServer, passes},
		{mail.PhaseDot, 452, "", mail.ReachServer, passes},
		{mail.PhaseDot, 421, "", mail.ReachServer, passes},
		{mail.PhaseData, 421, "4.7.0", mail.ReachIntegration, passes},

		// the integration
		{mail.PhaseHello, 504, "5.5.2", mail.ReachIntegration, stays}, // our EHLO name
		{mail.PhaseHello, 550, "", mail.ReachIntegration, stays},
		{mail.PhaseTLS, 454, "4.7.0", mail.ReachIntegration, passes},
		{mail.PhaseTLS, 501, "", mail.ReachIntegration, stays},
		{mail.PhaseAuth, 535, "", mail.ReachIntegration, stays},
		{mail.PhaseAuth, 535, "5.7.8", mail.ReachIntegration, stays},
		{mail.PhaseAuth, 535, "5.7.3", mail.ReachIntegration, stays}, // Exchange
		{mail.PhaseAuth, 534, "5.7.9", mail.ReachIntegration, stays},
		{mail.PhaseAuth, 454, "4.7.0", mail.ReachIntegration, passes},
		{mail.PhaseAuth, 432, "4.7.12", mail.ReachIntegration, passes},
		{mail.PhaseAuth, 451, "", mail.ReachServer, passes},
		{mail.PhaseMail, 530, "5.7.0", mail.ReachIntegration, stays},
		{mail.PhaseMail, 530, "5.5.1", mail.ReachIntegration, stays}, // Gmail of old
		{mail.PhaseMail, 538, "5.7.11", mail.ReachIntegration, stays},
		{mail.PhaseMail, 555, "5.5.4", mail.ReachIntegration, stays},
		{mail.PhaseMail, 503, "5.5.1", mail.ReachIntegration, stays}, // AUTH first
		{mail.PhaseRcpt, 503, "", mail.ReachIntegration, stays},
		{mail.PhaseMail, 451, "4.7.0", mail.ReachIntegration, passes},
		{mail.PhaseRcpt, 451, "4.7.500", mail.ReachIntegration, passes}, // Exchange: server busy
		{mail.PhaseRcpt, 454, "", mail.ReachIntegration, passes},
		{mail.PhaseRcpt, 554, "5.7.1", mail.ReachIntegration, stays}, // relaying denied
		{mail.PhaseRcpt, 452, "4.5.3", mail.ReachIntegration, passes},
		{mail.PhaseRcpt, 552, "5.5.3", mail.ReachIntegration, passes},
		{mail.PhaseDot, 454, "", mail.ReachIntegration, passes}, // SES: maximum sending rate
		{mail.PhaseDot, 421, "4.7.28", mail.ReachIntegration, passes},

		// the sender
		{mail.PhaseMail, 550, "", mail.ReachSender, stays},
		{mail.PhaseMail, 553, "5.7.1", mail.ReachSender, stays},
		{mail.PhaseMail, 550, "5.1.0", mail.ReachSender, stays},
		{mail.PhaseMail, 450, "", mail.ReachSender, passes},
		{mail.PhaseRcpt, 550, "5.1.8", mail.ReachSender, stays},
		{mail.PhaseRcpt, 553, "5.1.7", mail.ReachSender, stays},
		{mail.PhaseDot, 550, "5.7.26", mail.ReachSender, stays}, // DMARC

		// the recipient
		{mail.PhaseRcpt, 550, "", mail.ReachRecipient, stays},
		{mail.PhaseRcpt, 550, "5.1.1", mail.ReachRecipient, stays},
		{mail.PhaseRcpt, 550, "5.5.0", mail.ReachRecipient, stays},
		{mail.PhaseRcpt, 553, "5.1.3", mail.ReachRecipient, stays},
		{mail.PhaseRcpt, 556, "5.1.10", mail.ReachRecipient, stays}, // null MX
		{mail.PhaseRcpt, 450, "", mail.ReachRecipient, passes},
		{mail.PhaseRcpt, 450, "4.2.0", mail.ReachRecipient, passes},
		{mail.PhaseRcpt, 450, "4.7.1", mail.ReachRecipient, passes}, // greylisted
		{mail.PhaseDot, 451, "4.7.1", mail.ReachRecipient, passes},  // greylisted by a content filter
		{mail.PhaseRcpt, 451, "", mail.ReachRecipient, passes},
		{mail.PhaseRcpt, 452, "", mail.ReachRecipient, passes},
		{mail.PhaseRcpt, 452, "4.2.2", mail.ReachRecipient, passes},
		{mail.PhaseRcpt, 552, "5.2.2", mail.ReachRecipient, passes}, // full
		{mail.PhaseRcpt, 552, "", mail.ReachRecipient, passes},      // too many recipients, or full
		{mail.PhaseDot, 552, "5.2.2", mail.ReachRecipient, passes},
		{mail.PhaseRcpt, 550, "5.2.1", mail.ReachRecipient, stays}, // disabled
		{mail.PhaseRcpt, 550, "5.4.1", mail.ReachRecipient, stays}, // Exchange: access denied
		{mail.PhaseRcpt, 451, "4.4.1", mail.ReachRecipient, passes},
		{mail.PhaseDot, 550, "5.1.1", mail.ReachRecipient, stays},

		// the message
		{mail.PhaseMail, 552, "5.3.4", mail.ReachMessage, stays},
		{mail.PhaseMail, 552, "", mail.ReachMessage, stays},
		{mail.PhaseDot, 552, "5.3.4", mail.ReachMessage, stays},
		{mail.PhaseDot, 552, "", mail.ReachMessage, stays},
		{mail.PhaseRcpt, 552, "5.2.3", mail.ReachMessage, stays}, // too long for the mailbox
		{mail.PhaseData, 554, "", mail.ReachMessage, stays},
		{mail.PhaseDot, 554, "", mail.ReachMessage, stays},
		{mail.PhaseDot, 554, "5.7.1", mail.ReachMessage, stays}, // spam
		{mail.PhaseDot, 550, "5.6.0", mail.ReachMessage, stays},
		{mail.PhaseDot, 554, "5.3.0", mail.ReachMessage, stays},
		{mail.PhaseDot, 451, "", mail.ReachMessage, passes},
		{mail.PhaseDot, 550, "5.9.9", mail.ReachMessage, stays},
		{mail.PhaseDot, 550, "nonsense", mail.ReachMessage, stays},
	} {
		t.Run(fmt.Sprint(test.phase, " ", test.code, " ", test.enhanced), func(t *testing.T) {
			t.Parallel()
			reach, temporary := classify(test.phase, test.code, test.enhanced)
			assert.Equal(t, test.reach, reach)
			assert.Equal(t, test.temporary, temporary)
		})
	}
}

// Whatever a server replies, a 4yz passes, and there is a reach.
func TestClassifyKnowsEveryReply(t *testing.T) {
	t.Parallel()
	for _, phase := range []mail.Phase{mail.PhaseGreeting, mail.PhaseHello, mail.PhaseTLS, mail.PhaseAuth, mail.PhaseMail,
		mail.PhaseRcpt, mail.PhaseData, mail.PhaseBody, mail.PhaseDot} {
		for code := 400; code < 600; code++ {
			for _, enhanced := range everyEnhanced() {
				reach, temporary := classify(phase, code, enhanced)
				if reach == "" || code < 500 && !temporary {
					t.Fatalf("%s %d %s: reach %q, temporary %v", phase, code, enhanced, reach, temporary)
				}
			}
		}
	}
}

func everyEnhanced() []string {
	all := []string{""}
	for subject := range 9 {
		for _, detail := range []int{0, 1, 2, 3, 4, 5, 7, 8, 10, 14, 20, 25, 27, 500} {
			all = append(all, fmt.Sprintf("5.%d.%d", subject, detail))
		}
	}
	return all
}

func TestEnhancedCode(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"5.1.1 unknown":                       "5.1.1",
		"5.1.1":                               "5.1.1",
		"#5.1.0 Address rejected.":            "5.1.0",
		"sorry, no mailbox here (#5.1.1)":     "5.1.1",
		"first\n5.7.26 second":                "5.7.26",
		"4.7.0, try again":                    "4.7.0",
		"unknown":                             "",
		"":                                    "",
		"5.1.1.2 is on a black list":          "",
		"rejected by 5.2.1 of our rules":      "",
		"192.0.2 not wanted":                  "",
		"blocked 4.4.4.4":                     "",
		"5.1.9999 no such detail":             "",
		"see 5.1.1":                           "",
		"5.7.1: [192.0.2.1] is not welcome":   "5.7.1",
		"2.0.0 (#5.1.1) the first one counts": "2.0.0",
	} {
		assert.Equal(t, want, enhancedCode(text), "%q", text)
	}
}
