package mailcheck

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/testtools"
)

// gtube is the text that every spam filter takes for spam, in two lines.
const gtube = "XJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-\nANTI-UBE-TEST-EMAIL*C.34X"

func TestSpamScoresTellSpamFromMail(t *testing.T) {
	t.Parallel()
	longID := strings.Replace(plain, "<42@", "<3f2a9c1b7d5e@", 1)
	scores := SpamScores(t, map[string][]byte{
		"good":        []byte(longID),
		"spam":        []byte(strings.Replace(plain, "Adi=C3=B3s", strings.ReplaceAll(gtube, "\n", ""), 1)),
		"two in one":  []byte(longID + "\r\nFrom x@example.org Thu Jan  1 00:00:00 2026\r\nSubject: x\r\n\r\nx\r\n"),
		"wrong words": []byte(strings.Replace(longID, "Subject: ", "Subject: VIAGRA CIALIS!!! $$$ ", 1)),
	})
	require.Len(t, scores, 4)
	assert.LessOrEqual(t, scores["good"], 0.0, "nothing that was added to it counts against it")
	assert.Greater(t, scores["spam"], 900.0)
	assert.Less(t, scores["two in one"], 5.0)
	assert.Greater(t, scores["wrong words"], scores["good"])
}

func TestSpamScoresLeaveNothingAtHome(t *testing.T) {
	program := testtools.Find(t, "spamassassin", "spamassassin")
	home, folder := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	found, err := judge(t.Context(), program, folder, map[string][]byte{"x": []byte(plain)})
	require.NoError(t, err)
	assert.Contains(t, found["x"].rules, "MSGID_SHORT=")
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestSpamScoresSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ program, message, words string }{
		"no header":       {"true", "x", "m: "},
		"no sender":       {"true", "To: <a@b.example>\r\n\r\n", "m: From: "},
		"no receiver":     {"true", "From: <a@b.example>\r\n\r\n", "m: To: "},
		"program fails":   {"false", plain, "exit status 1"},
		"program is mute": {"true", plain, "1 messages went in, and 0 came out"},
		"no verdict":      {"cat", plain, `m: the verdict is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			program := fake(t, test.program)
			_, err := judge(t.Context(), program, t.TempDir(), map[string][]byte{"m": []byte(test.message)})
			require.ErrorContains(t, err, test.words)
		})
	}
}

// fake is a program that runs a line of shell, whatever its arguments are.
func fake(t *testing.T, line string) string {
	t.Helper()
	path := t.TempDir() + "/fake"
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n"), 0o700))
	return path
}
