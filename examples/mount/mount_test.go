package mount_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/examples/mount"
	"github.com/buzon-go/buzon/httpapi"
)

// routers are all there are.
var routers = map[string]func(http.Handler) http.Handler{"chi": mount.Chi, "gin": mount.Gin, "echo": mount.Echo}

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	m.Run()
}

// Whatever is asked under the prefix, the handler answers, as without a router.
func TestHandlerAnswersUnderAPrefix(t *testing.T) {
	t.Parallel()
	lotes := newHandler(t)
	const base = "/api/mod-membresia/"
	for name, router := range routers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(router(lotes))
			t.Cleanup(server.Close)
			for _, c := range []struct {
				method, path, schema string
				status               int
				code                 string
			}{
				{"GET", "openapi.json", "", http.StatusOK, ""},
				{"POST", "auditoria/lotes/7/reenviar-emails", "", http.StatusBadRequest, "schema_requerido"},
				{"GET", "auditoria/lotes/7/emails/progreso", "pg_catalog", http.StatusBadRequest, "schema_invalido"},
				{"GET", "auditoria/lotes/7/emails", "norte", http.StatusUnauthorized, "no_autenticado"},
				{"GET", "auditoria/lotes/x/emails.csv", "abierta", http.StatusBadRequest, "id_invalido"},
				{"GET", "auditoria/lotes/7/emails.csv?estado=x", "abierta", http.StatusBadRequest, "estado_invalido"},
				{"GET", "auditoria/lotes/7/emails", "abierta", http.StatusInternalServerError, "error_interno"}, // no database
				{"PUT", "auditoria/lotes/7/reenviar-emails", "", http.StatusMethodNotAllowed, "metodo_no_permitido"},
				{"DELETE", "auditoria/lotes/7/emails", "", http.StatusMethodNotAllowed, "metodo_no_permitido"},
				{"GET", "otra", "", http.StatusNotFound, "ruta_desconocida"},
			} {
				answered := ask(t, c.method, server.URL+base+c.path, c.schema)
				assert.Equal(t, c.status, answered.status, "%s %s", c.method, c.path)
				assert.Equal(t, c.code, answered.Code, "%s %s", c.method, c.path)
				assert.NotEmpty(t, answered.requestID, "%s %s", c.method, c.path)
			}
			assert.Equal(t, http.StatusNotFound, ask(t, "GET", server.URL+"/mod-membresia/openapi.json", "").status, "without the prefix")
		})
	}
}

type answer struct {
	status    int
	requestID string
	Code      string // of a problem
}

func ask(t *testing.T, method, url, schema string) answer {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	if schema != "" {
		request.Header.Set("X-Schema", schema)
	}
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	answered := answer{status: response.StatusCode, requestID: response.Header.Get("X-Request-Id")}
	_ = json.Unmarshal(content, &answered) // The routers' own answers are not JSON.
	return answered
}

// newHandler returns the handler over a database that is not there.
func newHandler(t *testing.T) http.Handler {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	pool, err := pgxpool.New(t.Context(), "postgres://nobody@127.0.0.1:1/nothing?connect_timeout=1")
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	queue, err := delivery.NewQueue(pool, delivery.QueueConfig{Logger: log})
	require.NoError(t, err)
	t.Cleanup(queue.Close)
	transport, err := smtp.New(smtp.Config{Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: 1, TLS: smtp.Plaintext}), Logger: log})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		assert.NoError(t, transport.Close(ctx))
	})
	service, err := billingmail.New(billingmail.Config{Queue: queue, Sender: transport, Branches: branches{}, Logger: log})
	require.NoError(t, err)
	handler, err := httpapi.New(httpapi.Config{Service: service, Authorize: authorize, Logger: log})
	require.NoError(t, err)
	return handler
}

// authorize lets nobody in but to the schema "abierta".
func authorize(_ *http.Request, schema string) (httpapi.Principal, error) {
	if schema != "abierta" {
		return httpapi.Principal{}, errors.Join(errors.New("no session"), httpapi.ErrUnauthenticated)
	}
	return httpapi.Principal{Name: "clerk"}, nil
}

type branches struct{}

func (branches) Branch(context.Context, string) (billingmail.Branch, error) {
	return billingmail.Branch{Brand: view.Brand{Name: "Club", From: netmail.Address{Address: "facturacion@club.example"}}}, nil
}
