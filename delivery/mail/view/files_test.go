package view_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// A host replaces what it has a file for, and nothing else.
func TestTheFirstThatHasAFileGivesIt(t *testing.T) {
	t.Parallel()
	library := baseSet().in("pt").files()
	for name, c := range map[string]struct {
		files     view.Files
		reader    string
		subject   string
		html      string
		languages []string
	}{
		"library's":    {library, "", "Compra k1 en Club Atlético Sur", "<p>Previa</p>", []string{"es", "pt"}},
		"nil":          {append(view.Files{nil, fstest.MapFS{}, nil}, library...), "", "Compra k1 en Club Atlético Sur", "<p>Previa</p>", []string{"es", "pt"}},
		"one file":     {append(set{"es/order.txt": strings.Replace(baseSet()["es/order.txt"], "Compra", "Venta", 1)}.files(), library...), "", "Venta k1 en Club Atlético Sur", "<p>Previa</p>", []string{"es", "pt"}},
		"layout":       {append(set{"layout.html": strings.Replace(baseSet()["layout.html"], "<p>", "<p id=\"h\">", 1)}.files(), library...), "", "Compra k1 en Club Atlético Sur", `<p id="h">Previa</p>`, []string{"es", "pt"}},
		"words":        {append(set{"es/layout.txt": `{{define "word"}}voz{{end}}`}.files(), library...), "", "Compra k1 en Club Atlético Sur", "voz k1", []string{"es", "pt"}},
		"first of two": {append(append(set{"es/layout.txt": `{{define "word"}}uno{{end}}`}.files(), set{"es/layout.txt": `{{define "word"}}dos{{end}}`}.files()...), library...), "", "Compra k1 en Club Atlético Sur", "uno k1", []string{"es", "pt"}},
		"language":     {append(onlyIn("en"), library...), "en", "en k1 en Club Atlético Sur", "en k1", []string{"es", "en", "pt"}},
		"region":       {append(onlyIn("es-AR"), library...), "es-AR", "es-AR k1 en Club Atlético Sur", "es-AR k1", []string{"es", "pt", "es-AR"}},
		"byte order":   {append(set{"es/order.txt": "\uFEFF" + baseSet()["es/order.txt"], "layout.html": "\uFEFF" + baseSet()["layout.html"], "layout.txt": "\uFEFF" + baseSet()["layout.txt"]}.files(), library...), "", "Compra k1 en Club Atlético Sur", "", []string{"es", "pt"}},
		"other files":  {append(set{"es/order.html.bak": "x", "fr/other.html": "x", ".git/order.html": "x", "order.html": "x"}.files(), library...), "", "Compra k1 en Club Atlético Sur", "", []string{"es", "pt"}},
		"without es":   {onlyIn("pt"), "es", "pt k1 en Club Atlético Sur", "pt k1", []string{"pt"}},
	} {
		v, err := view.New(c.files, "order", samples()...)
		if !assert.NoError(t, err, name) {
			continue
		}
		assert.Equal(t, c.languages, v.Languages(), name)
		content := render(t, v, view.SampleBrand(), view.Reader{Languages: []string{c.reader}}, samples()[0])
		assert.Equal(t, c.subject, content.Subject, name)
		assert.Contains(t, content.HTML, c.html, name)
		assert.True(t, strings.HasPrefix(content.HTML, "<!DOCTYPE html><html"), name)
		assert.NotContains(t, content.HTML+content.Text+content.Subject, "\uFEFF", name)
	}
}

// onlyIn are the files of one language, with the layout.
func onlyIn(language string) view.Files {
	files := baseSet().in(language)
	for name := range files {
		if strings.HasPrefix(name, "es/") {
			delete(files, name)
		}
	}
	return files.files()
}

// broken fails for one of its files.
type broken struct {
	fs.FS
	name string
}

var errDisk = errors.New("the disk is on fire")

func (b broken) Open(name string) (fs.File, error) {
	if name == b.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errDisk}
	}
	return b.FS.Open(name)
}

// What cannot be read is not passed over: the next in order would stand in for
// it.
func TestFilesThatCannotBeReadAreAFault(t *testing.T) {
	t.Parallel()
	library := baseSet().files()
	for _, name := range []string{".", "es", "es/order.html", "es/order.txt", "layout.html", "layout.txt", "es/layout.txt"} {
		host := broken{baseSet().files()[0], name}
		for _, files := range []view.Files{{host}, {host, library[0]}} {
			_, err := view.New(files, "order", samples()...)
			assert.ErrorIs(t, err, errDisk, name)
			assert.ErrorContains(t, err, "open "+name+":")
		}
		if name == "." || name == "es" {
			assert.ErrorIs(t, view.CheckNames(host, "order"), errDisk)
		}
	}
	for _, name := range []string{"es/order.html", "es/order.txt", "layout.txt"} {
		files := baseSet()
		files[name] += strings.Repeat(" ", 1<<20)
		_, err := view.New(files.files(), "order", samples()...)
		assert.ErrorContains(t, err, name+" has ")
		assert.ErrorContains(t, err, " bytes; at most 1048576 are allowed")
	}
}

func TestCheckNames(t *testing.T) {
	t.Parallel()
	check := func(names ...string) error {
		files := fstest.MapFS{}
		for _, name := range names {
			files[name] = &fstest.MapFile{}
		}
		return view.CheckNames(files, "order", "welcome")
	}
	assert.NoError(t, check())
	assert.NoError(t, check("layout.html", "layout.txt", "es/layout.txt", "es/order.html", "es/order.txt", "pt-BR/welcome.txt", "en/welcome.html"))
	assert.NoError(t, check(".DS_Store", ".git/x/order.html", "es/.order.html.swp"))
	for _, name := range []string{
		"order.html", "es/oder.html", "es/Order.html", "es/order.HTML", "es/order.htm", "es/order", "es/layout.html", "es/order.html.bak", "Layout.html",
		"fr/order.html", "ES/order.html", "pt_BR/order.html", "es/sub/order.html", "views/es/order.html", "README.md", "es/otro.txt",
	} {
		err := check("layout.html", "es/order.txt", name)
		assert.ErrorContains(t, err, name+" is a file that no view reads; views are order, welcome")
	}
	err := check("a.html", "es/b.html")
	assert.ErrorContains(t, err, "a.html is a file")
	assert.ErrorContains(t, err, "es/b.html is a file")
}

// Kubernetes mounts a volume's folders as links into a hidden one.
func TestLinkedFolders(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "..data", "es"), 0o700))
	for name, content := range baseSet() {
		require.NoError(t, os.WriteFile(filepath.Join(root, "..data", filepath.FromSlash(name)), []byte(content), 0o600))
	}
	for _, name := range []string{"es", "layout.html", "layout.txt"} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(root, name)); err != nil {
			t.Skip("no links here: ", err)
		}
	}
	require.NoError(t, view.CheckNames(os.DirFS(root), "order"))
	v, err := view.New(view.Files{os.DirFS(root)}, "order", samples()...)
	require.NoError(t, err)
	assert.Equal(t, []string{"es"}, v.Languages())

	require.NoError(t, os.WriteFile(filepath.Join(root, "..data", "es", "oder.html"), nil, 0o600))
	assert.ErrorContains(t, view.CheckNames(os.DirFS(root), "order"), "es/oder.html is a file that no view reads")
}
