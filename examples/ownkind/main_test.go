package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The kind does what it says: one e-mail, however often it is published.
func TestRun(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run(t.Context(), &out))
	assert.Contains(t, out.String(), "job 1: completed")
	assert.Contains(t, out.String(), "job 2: completed")
	assert.Equal(t, 1, strings.Count(out.String(), "Factura F-7 de Club Norte"), out.String())
	assert.Contains(t, out.String(), "jueves, 10 de diciembre de 2026")
}

// A host's own e-mail takes few lines.
func TestItIsShort(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("invoice.go")
	require.NoError(t, err)
	_, body, found := strings.Cut(string(source), "\n)\n")
	require.True(t, found)
	lines := 0
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			lines++
		}
	}
	assert.Less(t, lines, 40)
}
