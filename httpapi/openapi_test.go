package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

// An exchange is a request, and what must come of it.
type exchange struct {
	method, path string
	headers      header
	body         string
	status       int
	// refused says that the document alone tells the request to be wrong.
	refused bool
	// late says that whoever asks has no time left.
	late bool
}

// Requests and answers of every route and every status are as the document says.
func TestExchangesAreAsDocumented(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 1, "simulacion", 1)
	h.addLote("norte", 7, "completado", 3)
	h.addLote("norte", 9, "completado", 3)
	d := readDocument(t, h)

	d.check(exchange{method: "GET", path: "/mod-membresia/openapi.json", status: 200})
	for _, operation := range d.operations() {
		method, path, _ := strings.Cut(operation, " ")
		path, ofLote := strings.CutPrefix(path, lotes+"{id}")
		if !ofLote {
			continue
		}
		for _, e := range []exchange{
			{path: lotes + "7", headers: header{"Authorization": "Bearer all"}, status: 400, refused: true},
			{path: lotes + "7", headers: header{"Authorization": "Bearer all", "X-Schema": strings.Repeat("x", 64)}, status: 400, refused: true},
			{path: lotes + "7", headers: header{"Authorization": "Bearer all", "X-Schema": "pg_catalog"}, status: 400},
			{path: lotes + "7", headers: header{"X-Schema": "norte"}, status: 401, refused: true},
			{path: lotes + "7", headers: header{"X-Schema": "norte", "Authorization": "Bearer sur"}, status: 403},
			{path: lotes + "x", headers: as, status: 400, refused: true},
			{path: lotes + "0", headers: as, status: 400, refused: true},
			{path: lotes + "404", headers: as, status: 404},
			{path: lotes + "7", headers: header{"X-Schema": "nowhere", "Authorization": "Bearer all"}, status: 404},
			{path: lotes + "7", headers: header{"X-Schema": "norte", "Authorization": "Bearer broken"}, status: 500},
			{path: lotes + "7", headers: as, status: 503, late: true},
		} {
			e.method, e.path = method, e.path+path
			d.check(e)
		}
	}
	for _, e := range []exchange{
		{method: "POST", path: "7/reenviar-emails", body: `{"socios": [1]}`, status: 400, refused: true},
		{method: "POST", path: "7/reenviar-emails", body: `{"socio_ids": null}`, status: 400, refused: true},
		{method: "POST", path: "7/reenviar-emails", body: `{"socio_ids": [0]}`, status: 400, refused: true},
		{method: "POST", path: "7/reenviar-emails", body: `{"socio_ids": ["1"]}`, status: 400, refused: true},
		{method: "POST", path: "7/reenviar-emails", body: `{"socio_ids": [1.5]}`, status: 400, refused: true},
		{method: "POST", path: "7/reenviar-emails", body: `[]`, status: 400, refused: true},
		{method: "POST", path: "7/reenviar-emails", body: `{"socio_ids": [` + strings.Repeat("1, ", 400) + `1]}`, status: 413},
		{method: "POST", path: "7/reenviar-emails", body: `{"socio_ids": []}`, status: 422, refused: true},
		{method: "POST", path: "7/reenviar-emails", body: `{"socio_ids": [1, 5]}`, status: 422},
		{method: "POST", path: "1/reenviar-emails", status: 422},
		{method: "POST", path: "7/reenviar-emails", body: `{"socio_ids": [1, 2]}`, status: 202},
		{method: "POST", path: "7/reenviar-emails", status: 409},
		{method: "POST", path: "9/emails/cancelar", status: 409},
		{method: "POST", path: "9/reenviar-emails", body: `{}`, status: 202},
		{method: "POST", path: "9/emails/cancelar", status: 202},
		{method: "GET", path: "9/emails/progreso", status: 200},
		{method: "GET", path: "9/emails", status: 200},
		{method: "GET", path: "9/emails?estado=omitido&pagina=10000000&por_pagina=200", status: 200},
		{method: "GET", path: "9/emails?estado=perdido", status: 400, refused: true},
		{method: "GET", path: "9/emails?pagina=0", status: 400, refused: true},
		{method: "GET", path: "9/emails?pagina=10000001", status: 400, refused: true},
		{method: "GET", path: "9/emails?por_pagina=201", status: 400, refused: true},
		{method: "GET", path: "9/emails?por_pagina=x", status: 400, refused: true},
		{method: "GET", path: "9/emails?page=1", status: 400},
		{method: "GET", path: "9/emails.csv?estado=omitido", status: 200},
		{method: "GET", path: "9/emails.csv?estado=x", status: 400, refused: true},
	} {
		e.path, e.headers = lotes+e.path, as
		d.check(e)
	}
	d.checkEvents(lotes + "9/emails/progreso")

	// One was sent, one failed, and a retry is to come.
	require.NoError(t, h.mail.SetRules(smtptest.Rule{At: smtptest.Rcpt, Recipient: "socio2@members.example", Reply: smtptest.Reply{Code: 451, Text: "later"}}))
	h.run()
	require.Eventually(t, func() bool {
		job, err := h.queue.FindActive(t.Context(), "email_notification_lote", "norte", "lote:7")
		return err == nil && job.State == delivery.StatePending && job.RetryCount == 1
	}, patience, tick)
	for _, path := range []string{"emails", "emails.csv", "emails/progreso"} {
		d.check(exchange{method: "GET", path: lotes + "7/" + path, headers: as, status: 200})
	}

	for _, operation := range d.operations() {
		_, route := d.find(operation)
		for status := range route.Responses.Map() {
			assert.True(t, d.seen[operation+" "+status], "no exchange has come to %s %s", operation, status)
		}
	}
}

// What the handler serves and what the document says are the same routes, and
// the same codes of problems.
func TestDocumentIsComplete(t *testing.T) {
	t.Parallel()
	d := readDocument(t, newHouse(t))
	served, codes := readSource(t)
	assert.ElementsMatch(t, served, d.operations())

	named := map[string]bool{}
	for _, match := range regexp.MustCompile("`([a-z]+(?:_[a-z]+)+)`").FindAllStringSubmatch(string(d.text), -1) {
		named[match[1]] = true
	}
	for code := range codes {
		assert.True(t, named[code], "the document does not name the code %s", code)
	}
	for code := range named {
		assert.True(t, codes[code], "nothing answers with the code %s", code)
	}
}

// The methods of a lote's routes that the document does not have are refused.
func TestUndocumentedMethodsAreRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	d := readDocument(t, h)
	for path, item := range d.Paths.Map() {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if item.GetOperation(method) != nil {
				continue
			}
			answered := h.ask(method, strings.ReplaceAll(path, "{id}", "7"), as, "")
			assert.Equal(t, http.StatusMethodNotAllowed, answered.status, "%s %s", method, path)
			assert.NotEmpty(t, answered.header.Get("Allow"), "%s %s", method, path)
			assert.Equal(t, "metodo_no_permitido", answered.code(t), "%s %s", method, path)
		}
	}
}

// A document is the OpenAPI document as it is served.
type document struct {
	*openapi3.T
	t       *testing.T
	text    []byte
	handler http.Handler
	seen    map[string]bool // operations and statuses that exchanges have come to
}

func readDocument(t *testing.T, h *house) *document {
	t.Helper()
	openapi3filter.RegisterBodyDecoder("text/event-stream", openapi3filter.PlainBodyDecoder)
	text := h.ask("GET", "/mod-membresia/openapi.json", nil, "").body
	parsed, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	require.NoError(t, parsed.Validate(t.Context()))
	return &document{T: parsed, t: t, text: text, handler: h.server.Config.Handler, seen: map[string]bool{}}
}

// operations returns those of the document, such as "GET /a/{id}".
func (d *document) operations() []string {
	var all []string
	for path, item := range d.Paths.Map() {
		for method := range item.Operations() {
			all = append(all, method+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

func (d *document) find(operation string) (*openapi3.PathItem, *openapi3.Operation) {
	method, path, _ := strings.Cut(operation, " ")
	item := d.Paths.Value(path)
	return item, item.GetOperation(method)
}

// route finds the operation of a request.
func (d *document) route(r *http.Request) (operation string, params map[string]string) {
	d.t.Helper()
	mux := http.NewServeMux()
	for _, operation := range d.operations() {
		mux.HandleFunc(operation, func(_ http.ResponseWriter, r *http.Request) { params = map[string]string{"id": r.PathValue("id")} })
	}
	copied := r.Clone(r.Context())
	mux.ServeHTTP(httptest.NewRecorder(), copied)
	require.NotNil(d.t, params, "the document has no route for %s %s", r.Method, r.URL)
	return copied.Pattern, params
}

// check makes an exchange, and compares it with the document.
func (d *document) check(e exchange) *httptest.ResponseRecorder {
	d.t.Helper()
	newRequest := func() *http.Request {
		r := httptest.NewRequestWithContext(d.t.Context(), e.method, e.path, strings.NewReader(e.body))
		if e.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		for name, value := range e.headers {
			r.Header.Set(name, value)
		}
		return r
	}
	request := newRequest()
	operation, params := d.route(request)
	item, described := d.find(operation)
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: params,
		Route: &routers.Route{Spec: d.T, PathItem: item, Method: e.method, Operation: described},
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true, SkipSettingDefaults: true, AuthenticationFunc: hasAuthorization,
		},
	}
	err := openapi3filter.ValidateRequest(d.t.Context(), input)
	if e.refused {
		assert.Error(d.t, err, "the document lets %s %s pass: %s %v", e.method, e.path, e.body, e.headers)
	} else {
		assert.NoError(d.t, err, "%s %s: %s %v", e.method, e.path, e.body, e.headers)
	}

	served := newRequest()
	if e.late {
		ctx, cancel := context.WithDeadline(served.Context(), time.Now().Add(-time.Second))
		defer cancel()
		served = served.WithContext(ctx)
	}
	answered := httptest.NewRecorder()
	d.handler.ServeHTTP(answered, served)
	assert.Equal(d.t, e.status, answered.Code, "%s %s: %s", e.method, e.path, answered.Body)
	assert.NoError(d.t, openapi3filter.ValidateResponse(d.t.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: answered.Code, Header: answered.Header(),
		Body: io.NopCloser(bytes.NewReader(answered.Body.Bytes())), Options: input.Options,
	}), "%s %s", e.method, e.path)
	d.checkCode(described, answered)
	d.seen[operation+" "+strconv.Itoa(answered.Code)] = true
	return answered
}

// checkCode looks for a problem's code where the document tells of its status.
func (d *document) checkCode(operation *openapi3.Operation, answered *httptest.ResponseRecorder) {
	d.t.Helper()
	response := operation.Responses.Status(answered.Code)
	if answered.Code < http.StatusBadRequest || response == nil {
		return
	}
	var p struct{ Code string }
	require.NoError(d.t, json.Unmarshal(answered.Body.Bytes(), &p))
	assert.Contains(d.t, *response.Value.Description, "`"+p.Code+"`", operation.OperationID)
}

// checkEvents looks at what a stream of events tells.
func (d *document) checkEvents(path string) {
	d.t.Helper()
	headers := header{"Accept": "text/event-stream"}
	for name, value := range as {
		headers[name] = value
	}
	answered := d.check(exchange{method: "GET", path: path, headers: headers, status: http.StatusOK})
	_, data, found := strings.Cut(answered.Body.String(), "event: fin\ndata: ")
	require.True(d.t, found, answered.Body)
	var told any
	require.NoError(d.t, json.Unmarshal([]byte(data), &told))
	assert.NoError(d.t, d.Components.Schemas["Progreso"].Value.VisitJSON(told, openapi3.EnableJSONSchema2020()))
}

func hasAuthorization(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	if input.RequestValidationInput.Request.Header.Get(input.SecurityScheme.Name) == "" {
		return errors.New("no authorization")
	}
	return nil
}

// readSource returns the routes and the codes of problems that stand in the
// package's source, those of the panel apart, which answers with pages.
func readSource(t *testing.T) (routes []string, codes map[string]bool) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	codes = map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "panel") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if pattern := argument(n, 0); isCallOf(n, "HandleFunc") && !strings.Contains(pattern, "/panel/") {
					routes = append(routes, pattern)
				}
				if isCallOf(n, "malformed") && argument(n, 0) != "" {
					codes[argument(n, 0)] = true
				}
				if isCallOf(n, "positive") && argument(n, 0) != "" {
					codes[argument(n, 0)+"_invalido"] = true
				}
				if isCallOf(n, "readNumber") {
					codes[argument(n, 1)+"_invalido"] = true
				}
			case *ast.KeyValueExpr:
				if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" && literal(n.Value) != "" {
					codes[literal(n.Value)] = true
				}
				if method := methodOf(n.Value); method != "" {
					routes = append(routes, method+" "+lotes+"{id}/"+literal(n.Key))
				}
			}
			return true
		})
	}
	return routes, codes
}

func isCallOf(call *ast.CallExpr, name string) bool {
	switch function := call.Fun.(type) {
	case *ast.Ident:
		return function.Name == name
	case *ast.SelectorExpr:
		return function.Sel.Name == name
	}
	return false
}

func argument(call *ast.CallExpr, i int) string {
	if i >= len(call.Args) {
		return ""
	}
	return literal(call.Args[i])
}

// literal returns the text of a string literal, or "".
func literal(n ast.Expr) string {
	basic, ok := n.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(basic.Value)
	if err != nil {
		return ""
	}
	return text
}

// methodOf returns the method of a route such as {http.MethodGet, handle}.
func methodOf(n ast.Expr) string {
	list, ok := n.(*ast.CompositeLit)
	if !ok || len(list.Elts) != 2 {
		return ""
	}
	selector, ok := list.Elts[0].(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	method, found := strings.CutPrefix(selector.Sel.Name, "Method")
	if !found {
		return ""
	}
	return strings.ToUpper(method)
}
