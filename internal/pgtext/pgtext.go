// Package pgtext checks and mends texts on their way into PostgreSQL, which
// takes neither NUL characters nor invalid UTF-8. It knows nothing of what the
// texts mean.
package pgtext

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf16"
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

// CheckJSON refuses valid JSON that type jsonb does not take: an escape of NUL
// or of half a surrogate pair in a string, or a number out of range.
func CheckJSON(encoded []byte) error {
	if err := checkEscapes(encoded); err != nil {
		return err
	}
	return checkNumbers(encoded)
}

// checkEscapes looks at each backslash: in valid JSON they stand in strings.
func checkEscapes(encoded []byte) error {
	for i := 0; i+1 < len(encoded); i++ {
		if encoded[i] != '\\' {
			continue
		}
		i++
		if encoded[i] != 'u' {
			continue
		}
		unit := escapedUnit(encoded[i-1:])
		switch {
		case unit == 0:
			return errors.New(`holds a NUL character (\u0000), which PostgreSQL cannot store`)
		case utf16.IsSurrogate(unit):
			if utf16.DecodeRune(unit, escapedUnit(encoded[i+5:])) == utf8.RuneError {
				return errors.New("holds half of a surrogate pair, which PostgreSQL cannot store")
			}
			i += 6 // past the other half
		}
		i += 4
	}
	return nil
}

// escapedUnit reads \uXXXX at the start of text; -1 means that there is none.
func escapedUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

// longNumber matches what may be a number that numeric cannot hold, in or
// outside of a string.
var longNumber = regexp.MustCompile(`[eE][+-]?\d{4}|\d{1000}`)

func checkNumbers(encoded []byte) error {
	if !longNumber.Match(encoded) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(encoded))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil //nolint:nilerr // It is the end; the JSON is valid.
		}
		if number, ok := token.(json.Number); ok && longNumber.MatchString(number.String()) {
			return errors.New("holds a number of more digits than can be stored; send it as a string")
		}
	}
}
