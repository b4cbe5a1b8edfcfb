package preview

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/buzon-go/buzon/notify"
)

func loadFiles(files fs.FS) (*edition, error) {
	views, err := notify.NewViews(files)
	if err != nil {
		return nil, located(err, files)
	}
	return newEdition(views), nil
}

// htmlFault matches what html/template says of an action that fails. The line
// that it names is one of the whole page, with the layout and its style sheet,
// and of no file.
var htmlFault = regexp.MustCompile(`template: (\w+\.html):\d+:\d+: executing "\w+\.html" at <(.+?)>: `)

// located adds the files and lines that hold an action which failed.
func located(err error, files fs.FS) error {
	var lines []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		lines = append(lines, line)
		if found := htmlFault.FindStringSubmatch(line); found != nil {
			lines = append(lines, places(files, found[1], found[2])...)
		}
	}
	return errors.New(strings.Join(lines, "\n"))
}

// places returns where an action stands in the files of a view, and the layout.
func places(files fs.FS, view, action string) []string {
	names, _ := fs.Glob(files, "*/"+view) // The only error is a bad pattern.
	var found []string
	for _, name := range append(names, "layout.html") {
		content, err := fs.ReadFile(files, name)
		if err != nil {
			continue // The layout is the library's own.
		}
		n := 0
		for line := range strings.Lines(string(content)) {
			n++
			if strings.Contains(line, action) {
				found = append(found, fmt.Sprintf("%s:%d: %s", name, n, strings.TrimSpace(line)))
			}
		}
	}
	return found
}
