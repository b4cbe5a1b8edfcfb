package house

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

var (
	goBlock   = regexp.MustCompile("(?s)```go\n(.*?)```")
	localLink = regexp.MustCompile(`\]\(([^)#:]+)\)`)
)

// Go code in the README is code of the repository, so that it compiles, and
// changes when that does.
func TestReadmeSnippetsAreCompiled(t *testing.T) {
	t.Parallel()
	sources := goSources(t)
	blocks := goBlock.FindAllStringSubmatch(read(t, "README.md"), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		assert.True(t, strings.Contains(sources, unindented(block[1])), "no .go file holds:\n%s", block[1]) //nolint:testifylint // The message would be the whole source.
	}
}

func TestReadmeLinksLeadSomewhere(t *testing.T) {
	t.Parallel()
	for _, link := range localLink.FindAllStringSubmatch(read(t, "README.md"), -1) {
		_, err := os.Stat(filepath.Join(root, link[1]))
		assert.NoError(t, err)
	}
}

// The commands and the variables that a newcomer needs are there.
func TestReadmeNamesWhatANewcomerNeeds(t *testing.T) {
	t.Parallel()
	readme := read(t, "README.md")
	for _, want := range []string{
		"\ngo run ./examples/server\n", "\ngo test ./...\n",
		"MAIL_RETRY_MAX", "MAIL_RETRY_BASE_DELAY", "EMAIL_DELIVERY_LEASE_SECONDS",
	} {
		assert.Contains(t, readme, want)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return string(content)
}

// goSources returns all Go files but this one, without indentation.
func goSources(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		content, err := os.ReadFile(path)
		all.WriteString(unindented(string(content)))
		return err
	}))
	return all.String()
}

// unindented takes the white space off both ends of each line.
func unindented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
