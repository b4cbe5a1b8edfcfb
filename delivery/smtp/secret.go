package smtp

import (
	"fmt"
	"io"
	"log/slog"
)

// A Secret is a password that does not print: fmt, log/slog and the encoders
// that know encoding.TextMarshaler (JSON, XML, YAML) write a placeholder
// instead. A conversion to string gives the password.
type Secret string

const redacted = "[secret]"

// String returns a placeholder.
func (Secret) String() string { return redacted }

// Format implements fmt.Formatter: with a Stringer alone, %d would print the
// password.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText implements encoding.TextMarshaler.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
