package pgtext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtext"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	require.NoError(t, pgtext.Check("Key", "año", 1, 4))
	require.EqualError(t, pgtext.Check("Key", "", 1, 4), "Key is empty")
	require.EqualError(t, pgtext.Check("Key", "años", 1, 4), "Key has 5 bytes; 1 to 4 are allowed")
	require.EqualError(t, pgtext.Check("Key", "a\x00", 1, 4), "Key holds a NUL character")
	require.EqualError(t, pgtext.Check("Key", "a\xff", 1, 4), "Key is not valid UTF-8")
	require.NoError(t, pgtext.CheckName("Schema", strings.Repeat("s", 63)))
	require.ErrorContains(t, pgtext.CheckName("Schema", strings.Repeat("s", 64)), "Schema has 64 bytes")
}

func TestStorable(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "a\uFFFDb\uFFFDc", pgtext.Storable("a\x00b\xffc"))
	assert.Equal(t, "año", pgtext.Storable("año"))
	long := pgtext.Storable(strings.Repeat("ñ", 10_000) + "x")
	assert.LessOrEqual(t, len(long), 8<<10+len(" [cut]"))
	assert.True(t, utf8.ValidString(long))
	odd := pgtext.Storable("x" + strings.Repeat("ñ", 10_000))
	assert.True(t, utf8.ValidString(odd), "the cut falls between characters")
}

func TestCheckJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"plain": ["text", 1.5e300, -0, true, null]}`: "",
		`"\u0000"`:                        "NUL",
		`"a\u0000b"`:                      "NUL",
		`{"k\u0000": 1}`:                  "NUL",
		`"backslashes \\\\u0000 as text"`: "",
		`"one \\u0000 as text"`:           "",
		`"text \\u0000 and then\u0000"`:   "NUL",
		`"\ud83d\ude00"`:                  "",
		`"\uD83D\uDE00\u00f1"`:            "",
		`"\ud83d"`:                        "surrogate",
		`"\ude00"`:                        "surrogate",
		`"\ud83d\ud83d\ude00"`:            "surrogate",
		`"\ud83dx"`:                       "surrogate",
		`"\ud83d\n"`:                      "surrogate",
		`1e400000`:                        "number",
		`[{"a": -1E+9999}]`:               "number",
		`"1e400000"`:                      "",
		strings.Repeat("9", 1000):         "number",
	} {
		require.True(t, json.Valid([]byte(text)), "%s", text)
		err := pgtext.CheckJSON([]byte(text))
		if want == "" {
			require.NoError(t, err, "%s", text)
		} else {
			require.ErrorContains(t, err, want, "%s", text)
		}
	}
}
