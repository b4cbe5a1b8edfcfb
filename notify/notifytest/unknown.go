package notifytest

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// unknown returns ids of nothing: some as an id may be, and some that show
// whether the host takes an id for more than a text.
func unknown() []string {
	return []string{
		randomID(),
		randomUUID(),
		"9223372036854775807",  // the largest of type bigint
		"99999999999999999999", // larger
		"-1",
		"",
		strings.Repeat("x", 10_000),
		"'", `"`, "`", `\`,
		"%", "_", "*", // which stand for other texts in patterns
		"a:b",
		"line\nline",
		"nul\x00nul",
		"\xff\xfe", // no UTF-8
		"' OR '' = '",
		"../.",
	}
}

func randomID() string { return "unknown-" + rand.Text() }

// randomUUID returns a UUID of version 4 (RFC 9562 section 5.4).
func randomUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
