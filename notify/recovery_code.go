package notify

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A RecoveryCode does not print: fmt, log/slog and the encoders that know
// encoding.TextMarshaler (JSON, XML, YAML) write a placeholder instead. A
// conversion to string gives the code.
type RecoveryCode string

const redacted = "[code]"

// String returns a placeholder.
func (RecoveryCode) String() string { return redacted }

// Format implements fmt.Formatter: with a Stringer alone, %d would print the
// code.
func (RecoveryCode) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (RecoveryCode) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler.
func (RecoveryCode) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// maxCode is what still fits an e-mail on a telephone, in characters.
const maxCode = 64

// check refuses what nobody could type in. The error does not repeat the code.
func (c RecoveryCode) check() error {
	code := string(c)
	switch {
	case code == "":
		return errors.New("Code is empty")
	case !utf8.ValidString(code):
		return errors.New("Code is not valid UTF-8")
	case utf8.RuneCountInString(code) > maxCode:
		return fmt.Errorf("Code has more than %d characters", maxCode)
	case strings.TrimSpace(code) != code:
		return errors.New("Code begins or ends with white space")
	case strings.ContainsFunc(code, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("Code holds a character that cannot be printed")
	}
	return nil
}
