package mailcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/buzon-go/buzon/internal/testtools"
)

// SpamScores returns what SpamAssassin makes of each message, by the
// messages' names; 5 and more is spam for it. The rules that hit are in the
// test's log. It asks no server, learns nothing, and reads no user's settings.
// Without SpamAssassin the test is skipped, or fails, as package testtools has
// it.
//
// The messages are judged as their receiver has them: with the envelope's
// sender, and a Received line of a relay that has a proper name and used TLS.
func SpamScores(t testing.TB, messages map[string][]byte) map[string]float64 {
	t.Helper()
	verdicts, err := judge(t.Context(), testtools.Find(t, "spamassassin", "spamassassin"), t.TempDir(), messages)
	if err != nil {
		t.Fatalf("mailcheck: SpamAssassin: %v", err)
	}
	scores := map[string]float64{}
	for _, name := range slices.Sorted(maps.Keys(verdicts)) {
		t.Logf("%s: %.1f by %s", name, verdicts[name].score, verdicts[name].rules)
		scores[name] = verdicts[name].score
	}
	return scores
}

type verdict struct {
	score float64
	rules string // as RULE=0.1,OTHER=2
}

// judge runs the program once for all messages, as it takes long to start. Its
// state goes into folder, which is empty.
func judge(ctx context.Context, program, folder string, messages map[string][]byte) (map[string]verdict, error) {
	names := slices.Sorted(maps.Keys(messages))
	var mbox bytes.Buffer
	for i, name := range names {
		received, err := asReceived(messages[name], i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		mbox.Write(received)
	}
	preferences := filepath.Join(folder, "user_prefs")
	if err := os.WriteFile(preferences, nil, 0o600); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--local", "--mbox", "--prefspath="+preferences, //nolint:gosec // The very program that is asked.
		"--cf=use_bayes 0", "--cf=use_auto_welcomelist 0", "--cf=report_safe 0",
		"--cf=add_header all Verdict _SCORE_ _TESTSSCORES(,)_")
	cmd.Env = append(os.Environ(), "HOME="+folder, "LC_ALL=C")
	cmd.Stdin = &mbox
	out, err := output(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return verdicts(names, out)
}

// delivered stands before the message: the separator of an mbox and what the
// last two servers add. The relay's address is a public one, because those
// that are kept for examples count as forged.
const delivered = `From %[1]s Thu Jan  1 00:00:00 2026
Return-Path: <%[1]s>
Received: from mail.example.org (mail.example.org [93.184.215.14])
	(using TLSv1.3 with cipher TLS_AES_256_GCM_SHA384 (256/256 bits))
	by mx.example.net (Postfix) with ESMTPS id 4fRk3T%06[3]d
	for <%[2]s>; %[4]s
`

// number finds which message it is, as SpamAssassin changes their order.
var number = regexp.MustCompile(` id 4fRk3T(\d{6})\s`)

// separator is what would begin a message of an mbox; it is escaped with an
// angle bracket where it stands inside of one.
var separator = regexp.MustCompile(`(?m)^From `)

func asReceived(raw []byte, number int) ([]byte, error) {
	message, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	from, err := mail.ParseAddress(message.Header.Get("From"))
	if err != nil {
		return nil, named("From", err)
	}
	to, err := mail.ParseAddress(message.Header.Get("To"))
	if err != nil {
		return nil, named("To", err)
	}
	received := fmt.Appendf(nil, delivered, from.Address, to.Address, number, message.Header.Get("Date"))
	local := bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))
	received = append(received, separator.ReplaceAll(local, []byte(">From "))...)
	return append(received, '\n'), nil
}

// verdicts reads the mbox that SpamAssassin returns.
func verdicts(names []string, mbox []byte) (map[string]verdict, error) {
	result := map[string]verdict{}
	for _, message := range separator.Split(string(mbox), -1)[1:] {
		_, message, _ = strings.Cut(message, "\n")
		parsed, err := mail.ReadMessage(strings.NewReader(message))
		if err != nil {
			return nil, fmt.Errorf("a message came out malformed: %w", err)
		}
		which := number.FindStringSubmatch(parsed.Header.Get("Received"))
		if which == nil {
			return nil, errors.New("a message came out without its number")
		}
		i, err := strconv.Atoi(which[1])
		if err != nil {
			return nil, err
		}
		if result[names[i]], err = readVerdict(parsed.Header.Get("X-Spam-Verdict")); err != nil {
			return nil, fmt.Errorf("%s: %w", names[i], err)
		}
	}
	if len(result) != len(names) {
		return nil, fmt.Errorf("%d messages went in, and %d came out", len(names), len(result))
	}
	return result, nil
}

// readVerdict reads "1.3 RULE=1.2,OTHER=0.1", which may have been folded.
func readVerdict(line string) (v verdict, err error) {
	score, rules, _ := strings.Cut(line, " ")
	if v.score, err = strconv.ParseFloat(score, 64); err != nil {
		return v, fmt.Errorf("the verdict is %q", line)
	}
	v.rules = strings.ReplaceAll(rules, " ", "")
	return v, nil
}
