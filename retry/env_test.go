package retry_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/retry"
)

func TestFromEnv(t *testing.T) {
	for _, c := range []struct {
		maxRetries, baseDelay string
		want                  retry.Settings
	}{
		{"", "", retry.Settings{MaxRetries: 5, BaseDelay: time.Minute}},
		{"0", "1", retry.Settings{MaxRetries: 0, BaseDelay: time.Second}},
		{"7", "30", retry.Settings{MaxRetries: 7, BaseDelay: 30 * time.Second}},
		{"2147483647", "2147483647", retry.Settings{MaxRetries: 2147483647, BaseDelay: 2147483647 * time.Second}},
	} {
		t.Setenv(retry.EnvMaxRetries, c.maxRetries)
		t.Setenv(retry.EnvBaseDelay, c.baseDelay)
		got, err := retry.FromEnv()
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
}

func TestMalformedEnvIsNamed(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{retry.EnvMaxRetries, "-1"},
		{retry.EnvMaxRetries, "five"},
		{retry.EnvMaxRetries, "5.0"},
		{retry.EnvMaxRetries, "+5"},
		{retry.EnvMaxRetries, " 5"},
		{retry.EnvMaxRetries, "5_0"},
		{retry.EnvMaxRetries, "2147483648"},
		{retry.EnvMaxRetries, "99999999999999999999"},
		{retry.EnvBaseDelay, "0"},
		{retry.EnvBaseDelay, "-60"},
		{retry.EnvBaseDelay, "60s"},
		{retry.EnvBaseDelay, "1m"},
		{retry.EnvBaseDelay, "2147483648"},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			_, err := retry.FromEnv()
			require.ErrorContains(t, err, c.name)
			require.ErrorContains(t, err, `"`+c.value+`"`)
			_, err = retry.NewRegistry(nil)
			require.ErrorContains(t, err, c.name)
		})
	}
}

func TestBothMalformedVariablesAreReported(t *testing.T) {
	t.Setenv(retry.EnvMaxRetries, "many")
	t.Setenv(retry.EnvBaseDelay, "soon")
	_, err := retry.FromEnv()
	require.ErrorContains(t, err, `MAIL_RETRY_MAX="many"`)
	require.ErrorContains(t, err, `MAIL_RETRY_BASE_DELAY="soon"`)
}
