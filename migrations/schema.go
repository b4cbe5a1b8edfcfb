package migrations

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DefaultSchema is the library's schema where the host names none.
const DefaultSchema = "buzon"

// maxIdentifier is PostgreSQL's NAMEDATALEN - 1. It cuts longer names without
// an error, so that two of them could mean one schema.
const maxIdentifier = 63

// CheckSchemaName refuses what cannot name a schema: nothing, more than 63
// bytes, a NUL, or invalid UTF-8. Anything else is taken as it is, quotes and
// capital letters included.
func CheckSchemaName(schema string) error {
	switch {
	case schema == "":
		return errors.New("migrations: the schema's name is empty")
	case len(schema) > maxIdentifier:
		return fmt.Errorf("migrations: schema %q: its name has %d bytes, PostgreSQL takes at most %d", schema, len(schema), maxIdentifier)
	case strings.ContainsRune(schema, 0):
		return fmt.Errorf("migrations: schema %q: its name holds a NUL", schema)
	case !utf8.ValidString(schema):
		return fmt.Errorf("migrations: schema %q: its name is not valid UTF-8", schema)
	}
	return nil
}

// librarySchema returns the library's schema by the name that the host gave.
func librarySchema(name string) (string, error) {
	if name == "" {
		name = DefaultSchema
	}
	return name, CheckSchemaName(name)
}
