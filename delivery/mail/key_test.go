package mail_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
)

func TestKey(t *testing.T) {
	t.Parallel()
	key, err := mail.Key("event-date-rescheduled", "7", "9", "compra-ñ")
	require.NoError(t, err)
	assert.Equal(t, "event-date-rescheduled:7:9:compra-ñ", key)
	for part, want := range map[string]string{
		"":                       "is empty",
		"a:b":                    `holds ':'`,
		"a b":                    `holds ' '`,
		"a\tb":                   `holds '\t'`,
		"a\u00a0b":               `holds '\u00a0'`,
		"a\u2028b":               `holds '\u2028'`,
		"a\x00":                  `holds '\x00'`,
		"a\u0085":                `holds '\u0085'`,
		"\xff":                   "is not valid UTF-8",
		strings.Repeat("a", 256): "has 256 bytes",
	} {
		_, err := mail.Key("welcome", "acme", part)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, "part 3 of")
	}
	_, err = mail.Key()
	require.Error(t, err)
}

// Two lists of parts never give one key.
func FuzzKey(f *testing.F) {
	f.Add("a", "b", "a:b", "")
	f.Add("a", "b:c", "a:b", "c")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		first, err1 := mail.Key(a, b)
		second, err2 := mail.Key(c, d)
		if err1 == nil && err2 == nil && (first == second) != (a == c && b == d) {
			t.Fatalf("%q and %q", []string{a, b}, []string{c, d})
		}
	})
}

func TestSendErrorText(t *testing.T) {
	t.Parallel()
	err := &mail.SendError{
		Phase: mail.PhaseRcpt, Code: 550, Enhanced: "5.1.1",
		Err: assert.AnError,
	}
	assert.Equal(t, "smtp: rcpt: 550 5.1.1 "+assert.AnError.Error(), err.Error())
	err = &mail.SendError{Phase: mail.PhaseDot, Certainty: mail.Unknown, Err: assert.AnError}
	assert.Contains(t, err.Error(), "outcome unknown")
}
