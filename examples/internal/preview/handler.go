package preview

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/buzon-go/buzon/notify"
)

// Handler shows the e-mails of views in the identity of each of the brands, of
// which there is at least one. The error joins every fault.
func Handler(views *notify.Views, brands ...Brand) (http.Handler, error) {
	var fault error
	if views == nil {
		fault = errors.New("views is nil")
	}
	all := newEdition(views)
	return newHandler(func() (*edition, error) { return all, nil }, fault, brands)
}

// FilesHandler is [Handler] with the views of a host's own template files, as
// notify.NewViews takes them. They are read anew at each request, and what is
// wrong with them is shown on the page, so that one can edit a template and
// reload. That takes some tenths of a second each time.
func FilesHandler(files fs.FS, brands ...Brand) (http.Handler, error) {
	var fault error
	if files == nil {
		fault = errors.New("files is nil")
	}
	return newHandler(func() (*edition, error) { return loadFiles(files) }, fault, brands)
}

// A site is what the pages share.
type site struct {
	load   func() (*edition, error) // what one request shows
	brands []Brand
	pages  pages
}

func newHandler(load func() (*edition, error), fault error, brands []Brand) (http.Handler, error) {
	pages, err := newPages()
	if err := errors.Join(fault, checkBrands(brands), err); err != nil {
		return nil, fmt.Errorf("preview: %w", err)
	}
	s := &site{load: load, brands: brands, pages: pages}
	mux := http.NewServeMux()
	for pattern, handle := range map[string]handlerFunc{
		"GET /{$}":                          s.overview,
		"GET /{email}":                      s.email,
		"GET /{email}/{brand}/html":         s.document,
		"GET /{email}/{brand}/texto":        s.text,
		"GET /{email}/{brand}/fuente":       s.source,
		"GET /{email}/{brand}/adjuntos/{i}": s.attachment,
		"GET /" + logoPath:                  s.logo,
		"/":                                 s.notFound,
	} {
		mux.Handle(pattern, s.handler(handle))
	}
	return mux, nil
}

// A handlerFunc answers a request, or returns why it could not.
type handlerFunc func(w http.ResponseWriter, r *http.Request) error

// handler puts in front of all pages what none of them may forget.
func (s *site) handler(handle handlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cache-Control", "no-store")
		if err := handle(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

var errNoPage = errors.New("preview: no such page")

func (s *site) notFound(http.ResponseWriter, *http.Request) error { return errNoPage }

func (s *site) logo(w http.ResponseWriter, _ *http.Request) error {
	return write(w, "image/png", logo)
}
