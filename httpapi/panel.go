package httpapi

import (
	"errors"
	"net/http"

	"github.com/buzon-go/buzon/billingmail"
)

// Navigation, event streams and downloads cannot send headers, so that the
// panel's addresses hold the schema.
const (
	panelPrefix = "/mod-membresia/panel/"
	panelLote   = panelPrefix + "{schema}/lotes/{id}"
)

// panelPolicy allows a page its own style, script, forms and requests, and
// nothing else.
const panelPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; " +
	"frame-ancestors 'none'; base-uri 'none'"

// A panel is the pages for the people who run billing.
type panel struct {
	*api
	origin *http.CrossOriginProtection
}

func (a *api) panelRoutes(mux *http.ServeMux) {
	p := &panel{api: a, origin: http.NewCrossOriginProtection()}
	for path, route := range map[string]struct {
		method string
		handle func(http.ResponseWriter, *http.Request, call) error
		fail   func(http.ResponseWriter, *http.Request, call, error)
	}{
		"":            {http.MethodGet, p.lote, p.failPage},
		"/reenviar":   {http.MethodPost, p.resend, p.failPage},
		"/cancelar":   {http.MethodPost, p.cancel, p.failPage},
		"/emails.csv": {http.MethodGet, a.export, p.failPage},
		"/progreso":   {http.MethodGet, a.progress, a.fail},
	} {
		mux.Handle(route.method+" "+panelLote+path, p.handler(route.handle, route.fail))
		mux.Handle(panelLote+path, p.handler(refuseMethod(route.method), route.fail))
	}
	mux.Handle("GET "+panelPrefix+"estilo.css", protected(serveAsset("estilo.css")))
	mux.Handle("GET "+panelPrefix+"panel.js", protected(serveAsset("panel.js")))
	mux.Handle(panelPrefix, protected(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.failPage(w, r, call{}, problem{Status: http.StatusNotFound, Code: "ruta_desconocida", Detail: "Esta página no existe."})
	})))
}

// handler checks, in the order of the API's: the schema's form, where a form
// comes from, the authorisation, the lote's id; then it calls handle.
func (p *panel) handler(
	handle func(http.ResponseWriter, *http.Request, call) error, fail func(http.ResponseWriter, *http.Request, call, error),
) http.Handler {
	return protected(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := p.admit(r)
		if err == nil {
			err = handle(w, r, c)
		}
		if err != nil {
			fail(w, r, c, err)
		}
	}))
}

func (p *panel) admit(r *http.Request) (call, error) {
	schema := r.PathValue("schema")
	if err := billingmail.CheckSchema(schema); err != nil {
		return call{}, malformed("schema_invalido", "La dirección no tiene el nombre de una sucursal.")
	}
	if err := p.origin.Check(r); err != nil {
		return call{}, errCrossOrigin
	}
	return p.authorize(r, schema)
}

// errCrossOrigin refuses the forms of other sites, which a browser sends with
// the session of whoever looks at them.
var errCrossOrigin = problem{Status: http.StatusForbidden, Code: "otro_sitio", Detail: "El pedido viene de otro sitio."}

// refuseMethod answers whoever may see the lote.
func refuseMethod(allowed string) func(http.ResponseWriter, *http.Request, call) error {
	return func(w http.ResponseWriter, _ *http.Request, _ call) error {
		w.Header().Set("Allow", allowed)
		return problem{Status: http.StatusMethodNotAllowed, Code: "metodo_no_permitido", Detail: "Esta dirección admite solo el método " + allowed + "."}
	}
}

// protected tells browsers what the panel never needs.
func protected(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", panelPolicy)
		// With no-referrer the forms' Origin would be "null", and they would
		// look like those of other sites.
		header.Set("Referrer-Policy", "same-origin")
		header.Set("X-Frame-Options", "DENY")
		next.ServeHTTP(w, r)
	})
}

// failPage answers with a page that says in words what an error is.
func (p *panel) failPage(w http.ResponseWriter, r *http.Request, c call, err error) {
	failed := p.report(w, r, c, err)
	page := errorPage{Status: failed.Status, Detail: failed.Detail}
	if c.loteID != 0 && failed.Status != http.StatusNotFound {
		page.Lote = linksTo(r, c).page
	}
	p.show(w, r, failed.Status, "error", page)
}

// failOnLote answers with the lote's page and, on top, what went wrong. Where
// that page cannot be shown either, it is a page of its own.
func (p *panel) failOnLote(w http.ResponseWriter, r *http.Request, c call, err error) error {
	refused, ok := refusal(err)
	if !ok {
		return err
	}
	page, pageErr := p.lotePage(r, c, billingmail.ListRequest{})
	if pageErr != nil {
		return errors.Join(err, pageErr)
	}
	_ = p.report(w, r, c, err) // refused, with more words
	page.Fault = refused.Detail
	p.show(w, r, refused.Status, "lote", page)
	return nil
}

// refusal returns the problem of what a person can do something about: there is
// a lote, and it cannot be sent as asked for.
func refusal(err error) (problem, bool) {
	refused := problemOf(err)
	return withMembers(refused), refused.Status == http.StatusConflict || refused.Status == http.StatusUnprocessableEntity
}
