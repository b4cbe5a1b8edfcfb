package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// start runs the program, and returns its address and what ends it.
func start(t *testing.T, args ...string) (url string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, append([]string{"-listen", "127.0.0.1:0"}, args...), in)
		_ = in.CloseWithError(io.EOF)
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cancel()
		require.NoError(t, <-ended, "it ended at once")
	}
	found := regexp.MustCompile(`^Page: (http://\S+/) `).FindStringSubmatch(line)
	require.NotNil(t, found, line)
	return found[1], func() {
		cancel()
		assert.NoError(t, <-ended)
	}
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(content)
}

func TestItShowsTheLibrarysEmailsAndEnds(t *testing.T) {
	t.Parallel()
	url, stop := start(t)
	status, body := get(t, url)
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, "Bienvenida")
	status, logo := get(t, url+"logo.png")
	assert.Equal(t, http.StatusOK, status)
	assert.True(t, strings.HasPrefix(logo, "\x89PNG"))
	_, document := get(t, url+"welcome-1/1/html")
	assert.Contains(t, document, `src="`+url+`logo.png"`)

	stop()
	_, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
}

// A template is edited, and the page is loaded again.
func TestFilesAreReadAtEachRequest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	write := func(text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(folder, "es"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "es", "test.txt"), []byte(text), 0o600))
	}
	const whole = `{{define "subject"}}Primera{{end}}{{define "content"}}x{{end}}{{define "reason"}}y{{end}}`
	write(whole)
	url, stop := start(t, "-files", folder)
	defer stop()
	_, body := get(t, url)
	assert.Contains(t, body, "Primera")

	write(strings.Replace(whole, "Primera", "Segunda", 1))
	_, body = get(t, url)
	assert.Contains(t, body, "Segunda")

	write(whole + "\n{{")
	status, body := get(t, url)
	assert.Equal(t, http.StatusInternalServerError, status)
	assert.Contains(t, body, "es/test.txt:2: unclosed action")

	write(whole)
	status, _ = get(t, url)
	assert.Equal(t, http.StatusOK, status)
}

func TestWhatItRefuses(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for want, args := range map[string][]string{
		"-files: stat /nowhere":    {"-files", "/nowhere"},
		"file is no folder":        {"-files", file},
		`"x" is no flag`:           {"x"},
		"not defined: -x":          {"-x"},
		"choose another address":   {"-listen", "127.0.0.1:99999"},
		"address nothing: missing": {"-listen", "nothing"},
	} {
		assert.ErrorContains(t, run(t.Context(), args, io.Discard), want)
	}
	err := run(t.Context(), []string{"-files", file, "x"}, io.Discard)
	assert.ErrorContains(t, err, "no folder")
	assert.ErrorContains(t, err, "no flag")
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-h"}, &out))
	assert.Equal(t, usage, out.String())
}

func TestStartThatIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.NoError(t, run(ctx, []string{"-listen", "127.0.0.1:0"}, io.Discard))
}
