package notify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRecoveryCodeDoesNotPrint(t *testing.T) {
	t.Parallel()
	reset := PasswordReset{Code: "483920", Pending: true}
	var printed bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&printed, verb+verb, reset, reset.Code)
	}
	fmt.Fprint(&printed, reset.Code.String(), reset.Code)
	encoded, err := json.Marshal(reset)
	require.NoError(t, err)
	printed.Write(encoded)
	slog.New(slog.NewTextHandler(&printed, nil)).Info("x", "code", reset.Code, "reset", reset)
	slog.New(slog.NewJSONHandler(&printed, nil)).Info("x", "code", reset.Code, "reset", reset)
	assert.NotContains(t, printed.String(), "483920")
	assert.NotContains(t, printed.String(), "343833393230", "in hexadecimal")
	assert.Contains(t, printed.String(), "[code]")
}

func TestRecoveryCodeCheck(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"1", "483920", "AB-CD EF", "ñandú", strings.Repeat("á", maxCode)} {
		assert.NoError(t, RecoveryCode(code).check(), code)
	}
	for code, want := range map[string]string{
		"":                             "Code is empty",
		" 4839":                        "white space",
		"4839\n":                       "white space",
		"48\n39":                       "cannot be printed",
		"48\x0039":                     "cannot be printed",
		"4839\u202E":                   "cannot be printed",
		"4839\xff":                     "UTF-8",
		strings.Repeat("4", maxCode+1): "more than 64 characters",
	} {
		err := RecoveryCode(code).check()
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "4839")
	}
}
