package main

import (
	"bytes"
	"context"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/pgtest"
)

// patience is how long a test waits for what must come; it is not a measure.
const patience = 2 * time.Minute

// settings are an environment.
type settings map[string]string

func (s settings) get(name string) string { return s[name] }

// A server is a run of the sample server, and a browser.
type server struct {
	t      *testing.T
	db     *pgxpool.Pool // its database; nil where that is a private one
	output *output
	url    string // without a slash at its end
	client *http.Client

	cancel context.CancelFunc
	ended  chan error
}

// startServer runs the server on a database of its own until the test ends.
func startServer(t *testing.T, env settings) *server {
	t.Helper()
	db := pgtest.NewEmpty(t)
	all := settings{"DATABASE_URL": pgtest.URL(db)}
	for name, value := range env {
		all[name] = value
	}
	s := startPrivate(t, all)
	s.db = db
	return s
}

// startPrivate runs the server with just these settings.
func startPrivate(t *testing.T, env settings, args ...string) *server {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	s := &server{
		t: t, output: newOutput(), cancel: cancel, ended: make(chan error, 1),
		client: newClient(t),
	}
	go func() { s.ended <- run(ctx, append([]string{"-listen", "127.0.0.1:0"}, args...), env.get, s.output) }()
	t.Cleanup(func() { s.stop() })
	select {
	case <-s.output.page:
		s.url = s.output.address
	case err := <-s.ended:
		s.ended <- err
		require.NoError(t, err, "the server ended at once")
	case <-time.After(patience):
		require.Fail(t, "the server did not start", s.output.String())
	}
	return s
}

// newClient returns a browser, whose connections end with the test.
func newClient(t *testing.T) *http.Client {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// stop ends the run, which must succeed. A second call does nothing.
func (s *server) stop() {
	s.t.Helper()
	s.client.CloseIdleConnections()
	s.cancel()
	err := <-s.ended
	s.ended <- nil
	assert.NoError(s.t, err)
}

// A page is an answer, its body read.
type page struct {
	*http.Response
	body string
}

// text is the body without markup, its white space made even.
func (p page) text() string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(p.body, " "))), " ")
}

var tags = regexp.MustCompile(`(?s)<style>.*?</style>|<script>.*?</script>|<[^>]*>`)

func (s *server) get(path string) page {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+path, nil)
	require.NoError(s.t, err)
	return s.do(request)
}

// post sends a form, and follows the server to the page that it answers with.
func (s *server) post(path string, form url.Values) page {
	s.t.Helper()
	return s.do(s.form(path, form))
}

func (s *server) form(path string, form url.Values) *http.Request {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(form.Encode()))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return request
}

func (s *server) do(request *http.Request) page {
	s.t.Helper()
	response, err := s.client.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return page{response, string(body)}
}

// signUp signs somebody up, which must succeed.
func (s *server) signUp(tenant, name, email string) {
	s.t.Helper()
	answer := s.post("/usuarios", signUpForm(tenant, name, email))
	require.Equal(s.t, http.StatusOK, answer.StatusCode, answer.text())
	require.Contains(s.t, answer.text(), "Cuenta creada")
}

func signUpForm(tenant, name, email string) url.Values {
	return url.Values{"sitio": {tenant}, "nombre": {name}, "correo": {email}, "idioma": {"es"}}
}

// await waits until a page is as wanted.
func (s *server) await(path string, wanted func(page) bool) page {
	s.t.Helper()
	deadline := time.Now().Add(patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		found := s.get(path)
		if found.StatusCode == http.StatusOK && wanted(found) {
			return found
		}
		if time.Now().After(deadline) {
			require.Fail(s.t, "the page did not get there", "%s: %s\n%s", path, found.text(), s.output)
		}
		<-again.C
	}
}

// awaitText waits until a page says all of the words.
func (s *server) awaitText(path string, words ...string) page {
	s.t.Helper()
	return s.await(path, func(p page) bool {
		for _, word := range words {
			if !strings.Contains(p.text(), word) {
				return false
			}
		}
		return true
	})
}

// count returns what a count(*) says.
func (s *server) count(sql string, args ...any) int {
	s.t.Helper()
	var n int
	require.NoError(s.t, s.db.QueryRow(s.t.Context(), sql, args...).Scan(&n))
	return n
}

// jobs returns how many jobs there are, ended ones included.
func (s *server) jobs() int {
	s.t.Helper()
	return s.count(`SELECT (SELECT count(*) FROM buzon.outbox_jobs) + (SELECT count(*) FROM buzon.outbox_job_history)`)
}

func (s *server) users() int {
	s.t.Helper()
	return s.count(`SELECT count(*) FROM sample_host.users`)
}

// An output collects what the server writes, and tells where it stands.
type output struct {
	page     chan struct{} // closed when the address is known
	address  string        // of the page, without a slash at its end
	stopping chan struct{} // closed when the server has begun to stop

	mu   sync.Mutex
	text bytes.Buffer
}

func newOutput() *output {
	return &output{page: make(chan struct{}), stopping: make(chan struct{})}
}

var (
	pageLine = regexp.MustCompile(`Page: +(http://\S+)/ `)
	stopLine = regexp.MustCompile(`Stopping;`)
)

// Write implements io.Writer. A line may come in pieces.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.text.Write(p)
	if line := pageLine.FindSubmatch(o.text.Bytes()); line != nil && o.address == "" {
		o.address = string(line[1])
		close(o.page)
	}
	if !isClosed(o.stopping) && stopLine.Match(o.text.Bytes()) {
		close(o.stopping)
	}
	return n, err
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// awaitClosed waits for a signal.
func awaitClosed(t *testing.T, signal <-chan struct{}) {
	t.Helper()
	select {
	case <-signal:
	case <-time.After(patience):
		require.Fail(t, "the signal did not come")
	}
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
