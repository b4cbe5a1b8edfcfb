package httpapi

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

//go:embed panel
var panelFiles embed.FS

// panelViews are the pages; each stands in a file of its own and fills the
// layout.
var panelViews = map[string]*template.Template{"lote": panelView("lote"), "confirm": panelView("confirm"), "error": panelView("error")}

func panelView(name string) *template.Template {
	return template.Must(template.New("layout.html").Funcs(template.FuncMap{
		"number":  number,
		"counted": counted,
		"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	}).ParseFS(panelFiles, "panel/layout.html", "panel/"+name+".html"))
}

// A layout is what every page has.
type layout struct {
	Root string // from the page's address to the panel's assets
	Page any
}

type errorPage struct {
	Status int
	Detail string
	Lote   string // the address of the lote's page; empty for none
}

// show renders a page into memory first, so that one that fails can still
// become an error.
func (p *panel) show(w http.ResponseWriter, r *http.Request, status int, name string, page any) {
	var body bytes.Buffer
	if err := panelViews[name].Execute(&body, layout{panelRoot(r), page}); err != nil {
		p.log.Error("buzon: a page cannot be rendered", logRequest, requestID(r.Context()), logError, err)
		http.Error(w, "Hubo un error interno.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // Whoever asked may have gone.
}

// panelRoot leads from the address of a request up to the panel's. All links are
// relative, so that they hold wherever the handler is mounted.
func panelRoot(r *http.Request) string {
	return strings.Repeat("../", strings.Count(strings.TrimPrefix(r.URL.EscapedPath(), panelPrefix), "/"))
}

// links are the addresses of a lote, as seen from the page of a request.
type links struct{ page string }

func linksTo(r *http.Request, c call) links {
	return links{panelRoot(r) + url.PathEscape(c.schema) + "/lotes/" + strconv.FormatInt(c.loteID, 10)}
}

// with returns the page's address with parameters, of which the empty ones are
// left out.
func (l links) with(parameters map[string]string) string {
	query := url.Values{}
	for name, value := range parameters {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) == 0 {
		return l.page
	}
	return l.page + "?" + query.Encode()
}

// serveAsset serves a file that browsers keep, and ask about again.
func serveAsset(name string) http.Handler {
	content, err := panelFiles.ReadFile("panel/" + name)
	if err != nil {
		panic(err) // The file is part of this package.
	}
	sum := sha256.Sum256(content)
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		w.Header().Set("Cache-Control", "no-cache")
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	})
}
