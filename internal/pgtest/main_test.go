package pgtest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMain(m *testing.M) { Main(m) }

// envLeak makes TestLeak leave a goroutine behind.
const envLeak = "BUZON_PGTEST_LEAK"

func TestLeak(*testing.T) {
	if os.Getenv(envLeak) != "" {
		go func() { select {} }()
	}
}

func TestMainFindsLeaks(t *testing.T) {
	t.Parallel()
	run := func(env ...string) (string, error) {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLeak$")
		child.Env = append(os.Environ(), env...)
		out, err := child.CombinedOutput()
		return string(out), err
	}

	out, err := run()
	require.NoError(t, err, out)

	out, err = run(envLeak + "=1")
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	assert.Equal(t, 1, exit.ExitCode())
	assert.Contains(t, out, "found unexpected goroutines")
}
