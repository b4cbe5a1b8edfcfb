package postgres

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLastLines(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "(no output)", lastLines(nil))
	assert.Equal(t, "a\nb", lastLines([]byte("a\nb\n\n")))
	long := lastLines([]byte(strings.Repeat("early\n", 50) + strings.Repeat("late\n", quotedLines)))
	assert.Equal(t, strings.TrimSpace(strings.Repeat("late\n", quotedLines)), long)
}
