package httpapi

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"github.com/buzon-go/buzon/billingmail"
)

// Errors that a host's authorisation returns, wrapped or not.
var (
	// ErrUnauthenticated: it is not known who asks. 401.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrForbidden: whoever asks may not see this schema. 403.
	ErrForbidden = errors.New("forbidden")
)

// A Principal is who asks.
type Principal struct {
	// Name is kept with what the principal starts or cancels, and shown: 1 to
	// 200 bytes of text.
	Name string
}

// An AuthorizeFunc tells who makes a request and whether they may act for the
// branch schema, which may not exist. It looks at the header Authorization, or at
// a session of its own. It returns [ErrUnauthenticated] or [ErrForbidden]; any
// other error is answered with 500 and logged.
type AuthorizeFunc func(r *http.Request, schema string) (Principal, error)

// DefaultMaxBody is the largest body of a request, in bytes: room for a
// selection of some 100,000 members.
const DefaultMaxBody = 1 << 20

// Config configures the handler.
type Config struct {
	// Service does the work. Required.
	Service *billingmail.Service

	// Authorize is asked for every request but those of the OpenAPI document and
	// of the panel's style and script. The panel's pages are opened by people:
	// for these it has to know a session, such as a cookie.
	// Required.
	Authorize AuthorizeFunc

	// MaxBody is the largest body of a request, in bytes. Defaults to 1 MiB.
	MaxBody int64

	// TimeZone is the zone in which the panel tells times, and names. Defaults to
	// time.Local.
	TimeZone *time.Location

	// Logger takes what a stranger has no business to know. Defaults to
	// slog.Default.
	Logger *slog.Logger
}

// An api is the handlers and what they need.
type api struct {
	Config
	log *slog.Logger
}

const prefix = "/mod-membresia/auditoria/lotes/{id}/"

//go:embed openapi.json
var openAPI []byte

// New returns the routes as one handler, to be mounted at "/mod-membresia/", or
// under a prefix with http.StripPrefix. The error joins every fault.
func New(config Config) (http.Handler, error) {
	var faults []error
	if config.Service == nil {
		faults = append(faults, errors.New("Service is nil"))
	}
	if config.Authorize == nil {
		faults = append(faults, errors.New("Authorize is nil"))
	}
	if config.MaxBody < 0 {
		faults = append(faults, errors.New("MaxBody is negative"))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("httpapi: %w", err)
	}
	config.MaxBody = cmp.Or(config.MaxBody, DefaultMaxBody)
	config.TimeZone = cmp.Or(config.TimeZone, time.Local)
	a := &api{Config: config, log: cmp.Or(config.Logger, slog.Default())}
	return a.routes(), nil
}

func (a *api) routes() http.Handler {
	mux := http.NewServeMux()
	for path, route := range map[string]struct {
		method string
		handle func(http.ResponseWriter, *http.Request, call) error
	}{
		"reenviar-emails": {http.MethodPost, a.resend},
		"emails":          {http.MethodGet, a.emails},
		"emails.csv":      {http.MethodGet, a.export},
		"emails/progreso": {http.MethodGet, a.progress},
		"emails/cancelar": {http.MethodPost, a.cancel},
	} {
		mux.Handle(route.method+" "+prefix+path, a.handler(route.handle))
		mux.Handle(prefix+path, a.refuse(problem{Status: http.StatusMethodNotAllowed, Code: "metodo_no_permitido",
			Detail: "Esta dirección admite solo el método " + route.method + "."}, route.method))
	}
	a.panelRoutes(mux)
	mux.HandleFunc("GET /mod-membresia/openapi.json", serveOpenAPI)
	mux.Handle("/mod-membresia/openapi.json", a.refuse(problem{
		Status: http.StatusMethodNotAllowed, Code: "metodo_no_permitido", Detail: "Esta dirección admite solo el método GET.",
	}, http.MethodGet))
	mux.Handle("/", a.refuse(problem{Status: http.StatusNotFound, Code: "ruta_desconocida", Detail: "No existe esta dirección."}, ""))
	return withRequestID(mux)
}

func serveOpenAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(openAPI)
}

// refuse answers every request with a problem.
func (a *api) refuse(p problem, allow string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if allow != "" {
			w.Header().Set("Allow", allow)
		}
		a.write(w, r, p)
	})
}

// A call is what every request to a lote says.
type call struct {
	schema    string
	principal Principal
	loteID    int64
}

// handler checks, in the order that the contract gives: the header's form, the
// authorisation, the lote's id; then it calls handle.
func (a *api) handler(handle func(http.ResponseWriter, *http.Request, call) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := a.admit(r)
		if err == nil {
			err = handle(w, r, c)
		}
		if err != nil {
			a.fail(w, r, c, err)
		}
	})
}

func (a *api) admit(r *http.Request) (call, error) {
	schema, err := schemaOf(r.Header)
	if err != nil {
		return call{}, err
	}
	return a.authorize(r, schema)
}

// authorize asks the host who acts for a schema, and reads the lote's id.
func (a *api) authorize(r *http.Request, schema string) (call, error) {
	var err error
	c := call{schema: schema}
	if c.principal, err = a.Authorize(r, schema); err != nil {
		return c, err
	}
	if name := c.principal.Name; name == "" || len(name) > 200 {
		return c, fmt.Errorf("httpapi: Authorize gave a Principal whose Name has %d bytes; want 1 to 200", len(name))
	}
	c.loteID, err = positive("id", r.PathValue("id"))
	return c, err
}

type requestIDKey struct{}

const requestIDHeader = "X-Request-Id"

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9._:/+=-]{1,128}$`)

// withRequestID gives every request an id: its own, where it has one that can be
// logged.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(requestIDHeader)
		if !requestIDPattern.MatchString(id) {
			id = rand.Text()
		}
		w.Header().Set(requestIDHeader, id)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)))
	})
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
