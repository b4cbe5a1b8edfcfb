package preview_test

import (
	"net/http"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/examples/internal/preview"
)

const welcome = `{{define "title"}}Hola{{end}}
{{define "preheader"}}x{{end}}
{{define "reason"}}y{{end}}
{{define "content"}}
<p>¡Llegaste, {{.Recipient}}!</p>
{{end}}`

func TestFaultsNameFileAndLine(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{}
	handler, err := preview.FilesHandler(files, preview.SampleBrands(base)...)
	require.NoError(t, err)
	for want, faulty := range map[string]fstest.MapFS{
		"es/welcome.html:2: <p>{{ .Data.Surname }}</p>": {
			"es/welcome.html": {Data: []byte("{{define \"content\"}}\n<p>{{ .Data.Surname }}</p>{{end}}{{define \"title\"}}{{end}}{{define \"preheader\"}}{{end}}{{define \"reason\"}}{{end}}")},
		},
		"es/test.html:2: {{.Data.ALongNameThatIsNotThere}}": {
			"es/test.html": {Data: []byte("{{define \"content\"}}\n{{.Data.ALongNameThatIsNotThere}}{{end}}{{define \"title\"}}{{end}}{{define \"preheader\"}}{{end}}{{define \"reason\"}}{{end}}")},
		},
		"template: es/welcome.html:2: unclosed action": {"es/welcome.html": {Data: []byte("{{define \"title\"}}\n{{.Data")}},
		"template: es/welcome.txt:1:":                  {"es/welcome.txt": {Data: []byte(`{{define "subject"}}{{.Data.Surname}}{{end}}`)}},
		"es/welcom.html is a file that no view reads":  {"es/welcom.html": {}},
		"view test in es: </html> closes nothing":      {"layout.html": {Data: []byte("</html>")}},
		"<script>": {"es/welcome.html": {Data: []byte(`{{define "content"}}<script>`)}},
	} {
		clear(files)
		for name, file := range faulty {
			files[name] = file
		}
		for _, path := range []string{"/", "/welcome-1", "/welcome-1/1/html"} {
			response, page := get(handler, path)
			assert.Equal(t, http.StatusInternalServerError, response.Code)
			assert.Contains(t, page, "<h1>Hay algo mal en las plantillas</h1>")
			if want == "<script>" {
				assert.NotContains(t, page, want)
				continue
			}
			assert.Contains(t, textOf(page), want)
		}
	}
}

func TestFilesOfTheHost(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"es/welcome.html": {Data: []byte(welcome)}}
	handler, err := preview.FilesHandler(files, preview.SampleBrands(base)...)
	require.NoError(t, err)
	_, document := get(handler, "/welcome-1/1/html")
	assert.Contains(t, document, "¡Llegaste, Ana Pérez!")

	delete(files, "es/welcome.html")
	_, document = get(handler, "/welcome-1/1/html")
	assert.NotContains(t, document, "¡Llegaste", "they are read anew")
}
