// Package pgtext checks and mends texts on their way into PostgreSQL, which
// takes neither NUL characters nor invalid UTF-8. It knows nothing of what the
// texts mean.
package pgtext

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Check refuses a text that is shorter or longer than wanted, in bytes, or that
// PostgreSQL cannot store. The error names the field.
func Check(field, text string, low, high int) error {
	switch {
	case text == "" && low > 0:
		return fmt.Errorf("%s is empty", field)
	case len(text) < low || len(text) > high:
		return fmt.Errorf("%s has %d bytes; %d to %d are allowed", field, len(text), low, high)
	case !utf8.ValidString(text):
		return fmt.Errorf("%s is not valid UTF-8", field)
	case strings.IndexByte(text, 0) >= 0:
		return fmt.Errorf("%s holds a NUL character", field)
	}
	return nil
}

// maxName is NAMEDATALEN-1: PostgreSQL cuts longer names without an error.
const maxName = 63

// CheckName refuses what cannot be the name of a schema.
func CheckName(field, name string) error {
	if len(name) > maxName {
		return fmt.Errorf("%s has %d bytes; a PostgreSQL name has at most %d", field, len(name), maxName)
	}
	return Check(field, name, 1, maxName)
}

// CheckRange refuses a number outside of low to high.
func CheckRange(field string, n, low, high int) error {
	if n < low || n > high {
		return fmt.Errorf("%s is %d; want %d to %d", field, n, low, high)
	}
	return nil
}

// maxStored bounds what is kept of an error's text, in bytes.
const maxStored = 8 << 10

// Storable makes any text fit for a column: valid UTF-8, without NUL, at most
// 8 KiB. A text that cannot be written would keep its row from ever changing.
func Storable(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
	if len(text) <= maxStored {
		return text
	}
	cut := maxStored
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + " [cut]"
}

// ErrNULEscape is what [CheckJSON] returns.
var ErrNULEscape = errors.New(`holds a NUL character (\u0000), which PostgreSQL cannot store`)

// CheckJSON refuses valid JSON that type jsonb does not take, because a string
// in it holds an escaped NUL.
func CheckJSON(encoded []byte) error {
	for rest := string(encoded); ; {
		at := strings.Index(rest, `\u0000`)
		if at < 0 {
			return nil
		}
		// An odd number of backslashes up to here is an escape; an even one
		// is backslashes followed by text.
		before := rest[:at]
		backslashes := len(before) - len(strings.TrimRight(before, `\`)) + 1
		if backslashes%2 == 1 {
			return ErrNULEscape
		}
		rest = rest[at+len(`\u0000`):]
	}
}
