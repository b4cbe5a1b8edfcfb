package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"strconv"
	"time"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

//go:embed views
var files embed.FS

// pages are the names of the views; each stands in a file of its own and fills
// the layout.
var pages = []string{
	"users", "purchases", "dates", "reschedule", "suspend", "jobs", "deliveries", "inbox", "message", "test", "error",
}

// views are the parsed pages.
type views struct {
	byName map[string]*template.Template
	policy string // the Content-Security-Policy of all pages
	style  template.CSS
	script template.JS
}

func newViews() (*views, error) {
	style, err := files.ReadFile("views/style.css")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	script, err := files.ReadFile("views/script.js")
	if err != nil {
		return nil, fmt.Errorf("web: %w", err)
	}
	v := &views{
		byName: map[string]*template.Template{},
		policy: contentPolicy(style, script),
		style:  template.CSS(style), //nolint:gosec // It is our own file.
		script: template.JS(script), //nolint:gosec // It is our own file.
	}
	for _, name := range pages {
		v.byName[name], err = template.New("layout.html").Funcs(functions).
			ParseFS(files, "views/layout.html", "views/notice.html", "views/"+name+".html")
		if err != nil {
			return nil, fmt.Errorf("web: %w", err)
		}
	}
	return v, nil
}

// contentPolicy allows a page its own style and script, known by their hashes,
// its own forms and frames, and nothing else.
func contentPolicy(style, script []byte) string {
	return "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'; frame-src 'self'; " +
		"connect-src 'self'; img-src data:; style-src " + hashSource(style) + "; script-src " + hashSource(script)
}

func hashSource(content []byte) string {
	sum := sha256.Sum256(content)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// A layout is what every page has.
type layout struct {
	Name   string // of the page
	Notice string // what was just done; empty for nothing
	Style  template.CSS
	Script template.JS
	Page   any
}

// show renders a page into memory first, so that one that fails can still
// become an error.
func (s *site) show(w http.ResponseWriter, r *http.Request, status int, name string, page any) error {
	var body bytes.Buffer
	err := s.views.byName[name].Execute(&body, layout{
		Name: name, Notice: notices[r.URL.Query().Get("aviso")],
		Style: s.views.style, Script: s.views.script, Page: page,
	})
	if err != nil {
		return fmt.Errorf("web: render %s: %w", name, err)
	}
	header := w.Header()
	header.Set("Content-Security-Policy", s.views.policy)
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(body.Len()))
	w.WriteHeader(status)
	_, _ = body.WriteTo(w) // A browser that went away is no fault of the page.
	return nil
}

// functions are what the views can call.
var functions = template.FuncMap{
	"time":    shownTime,
	"machine": func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
	"states":  func(word any) string { return stateWords[fmt.Sprint(word)] },

	"there":    view.Locale{}.Moment, // a time in its own zone
	"money":    view.Locale{}.Money,
	"language": languageName,
	"bytes":    shownSize,
	"count":    counted,
}

// shownTime tells a time in the server's own zone.
func shownTime(t time.Time) string { return t.Local().Format("02/01/2006 15:04:05") }

// shownSize tells a size in whole kilobytes.
func shownSize(content []byte) string { return fmt.Sprintf("%d kB", (len(content)+999)/1000) }

// counted puts a number before its noun: "1 compra", "2 compras", "ninguna
// compra".
func counted(n int, none, one, many string) string {
	switch n {
	case 0:
		return none + " " + one
	case 1:
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// stateWords are the states of jobs, deliveries, attempts, purchases and dates
// in Spanish.
var stateWords = map[string]string{
	"pending":    "pendiente",
	"running":    "en curso",
	"completed":  "completado",
	"failed":     "fallido",
	"cancelled":  "cancelado",
	"replaced":   "reemplazado",
	"expired":    "vencido",
	"processing": "en curso",
	"sent":       "enviado",
	"unknown":    "resultado desconocido",

	"paid":        "pagada",
	"annulled":    "anulada",
	"scheduled":   "se hace",
	"rescheduled": "reprogramada",
	"suspended":   "suspendida",
}
