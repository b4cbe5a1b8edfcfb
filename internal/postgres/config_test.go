package postgres

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConfigFaultsAreToldTogether(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Config{
		Folder:   "a\x00b",
		Binaries: Binaries{Folder: "bin"},
		Settings: map[string]string{
			"":         "on",
			"Port":     "5432",
			"a=b":      "c",
			"work_mem": "4MB\x00",
		},
	})
	require.Error(t, err)
	for _, part := range []string{
		"Config.Folder", "Config.Binaries",
		`Config.Settings[""]`, `Config.Settings["Port"]: is made by Start`, `Config.Settings["a=b"]`, `Config.Settings["work_mem"]`,
	} {
		assert.ErrorContains(t, err, part)
	}
}

func TestConfigSyncs(t *testing.T) {
	t.Parallel()
	assert.True(t, Config{}.syncs())
	assert.True(t, Config{Settings: map[string]string{"fsync": "on"}}.syncs())
	assert.False(t, Config{Settings: map[string]string{"fsync": "OFF"}}.syncs())
}
