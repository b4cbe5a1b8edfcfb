package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Screenshots is the environment variable that holds the folder into which
// [SaveScreenshot] writes. It is made where it does not exist.
const Screenshots = "BUZON_SCREENSHOTS"

// SaveScreenshot keeps a picture for people to look at, as a file of that name
// in the folder of [Screenshots]; where that is not set, it does nothing. A
// slash in the name becomes a hyphen.
func SaveScreenshot(t testing.TB, name string, png []byte) {
	t.Helper()
	folder := os.Getenv(Screenshots)
	if folder == "" {
		return
	}
	require.NoError(t, os.MkdirAll(folder, 0o755)) //nolint:gosec // The folder that was asked for.
	file := strings.ReplaceAll(name, "/", "-") + ".png"
	require.NoError(t, os.WriteFile(filepath.Join(folder, file), png, 0o644)) //nolint:gosec // People may look at it.
}
