package preview

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strings"
)

//go:embed views
var files embed.FS

// pages are the parsed pages.
type pages struct {
	byName map[string]*template.Template
	policy string // the Content-Security-Policy of all of them
	style  template.CSS
}

func newPages() (pages, error) {
	style, err := files.ReadFile("views/style.css")
	if err != nil {
		return pages{}, err
	}
	p := pages{byName: map[string]*template.Template{}, policy: pagePolicy(style), style: template.CSS(style)} //nolint:gosec // It is our own file.
	for _, name := range []string{"overview", "email", "error"} {
		p.byName[name], err = template.New("layout.html").Funcs(functions).ParseFS(files, "views/layout.html", "views/"+name+".html")
		if err != nil {
			return pages{}, err
		}
	}
	return p, nil
}

// pagePolicy allows a page its own style, known by its hash, frames of the same
// site, and nothing else.
func pagePolicy(style []byte) string {
	sum := sha256.Sum256(style)
	return "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; frame-src 'self'; img-src data:; " +
		"style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var functions = template.FuncMap{
	"next": func(i int) int { return i + 1 },
	"pdf":  isPDF,
	"kB":   func(content []byte) int { return (len(content) + 999) / 1000 },
}

// A layout is what every page has.
type layout struct {
	Home  string // the way to the overview
	Style template.CSS
	Page  any
}

// show renders a page into memory first, so that one that fails can still
// become an error.
func (s *site) show(w http.ResponseWriter, r *http.Request, status int, name string, page any) error {
	var body bytes.Buffer
	if err := s.pages.byName[name].Execute(&body, layout{Home: home(r), Style: s.pages.style, Page: page}); err != nil {
		return fmt.Errorf("preview: render %s: %w", name, err)
	}
	header := w.Header()
	header.Set("Content-Security-Policy", s.pages.policy)
	header.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // A browser that went away is no fault of the page.
	return nil
}

// home returns the relative address of the overview.
func home(r *http.Request) string {
	if depth := strings.Count(r.URL.EscapedPath(), "/") - 1; depth > 0 {
		return strings.Repeat("../", depth)
	}
	return "./"
}
