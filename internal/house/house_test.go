package house

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "github.com/buzon-go/buzon/"

// Third-party modules, as the rules below name them.
const (
	pgx        = "github.com/jackc/pgx/v5"
	squirrel   = "github.com/Masterminds/squirrel"
	prometheus = "github.com/prometheus/client_golang"
	goSMTP     = "github.com/emersion/go-smtp"
	goSASL     = "github.com/emersion/go-sasl"
	goMessage  = "github.com/emersion/go-message"
	idna       = "golang.org/x/net/idna"
	xText      = "golang.org/x/text"
	goose      = "github.com/pressly/goose/v3"
	htmlTokens = "golang.org/x/net/html"
	premailer  = "github.com/vanng822/go-premailer"
	locales    = "github.com/go-playground/locales"
	fpdf       = "codeberg.org/go-pdf/fpdf"
	pdfcpu     = "github.com/pdfcpu/pdfcpu"
	qr         = "rsc.io/qr"
)

// allowed are the imports of each package beyond the standard library. Data
// goes one way, and imports run the same way: a package may name those below it
// and no other.
var allowed = map[string][]string{
	"internal/pgtext":         {},
	"internal/timing":         {},
	"internal/ticketpdf":      {fpdf, pdfcpu, qr, xText},
	"retry":                   {},
	"migrations":              {"internal/pgtext", pgx, goose},
	"delivery":                {"retry", "internal/pgtext", "internal/timing", pgx, squirrel, prometheus},
	"delivery/mail":           {"retry", "internal/pgtext", "internal/timing", pgx, squirrel, idna, prometheus},
	"delivery/mail/diagnosis": {"delivery/mail"},
	"delivery/mail/view":      {"delivery/mail", premailer, locales, htmlTokens, xText},
	"delivery/smtp":           {"retry", "delivery/mail", goSMTP, goSASL, goMessage, xText, prometheus},
	"delivery/smtptest":       {goSMTP, goSASL, goMessage},
	"notify": {
		"retry", "delivery", "delivery/mail", "delivery/mail/diagnosis", "delivery/mail/view",
		"internal/pgtext", "internal/timing", "internal/ticketpdf", pgx,
	},
	"billingmail": {
		"retry", "delivery", "delivery/mail", "delivery/mail/diagnosis", "delivery/mail/view", "internal/pgtext", "internal/timing", pgx,
	},
	"httpapi":           {"billingmail", "delivery", "delivery/mail/view"},
	"notify/notifytest": {"retry", "delivery", "delivery/mail", "delivery/mail/view", "notify", xText},
}

// testOnly must not get into the build of a host that imports the library.
var testOnly = []string{
	"github.com/stretchr/testify", "go.uber.org/goleak", "github.com/fergusstrange/embedded-postgres", "testing",
	"github.com/chromedp/chromedp", "github.com/makiuchi-d/gozxing", "github.com/getkin/kin-openapi",
	module + "internal/browser", module + "internal/mailcheck", module + "internal/testtools",
	module + "internal/pgtest", module + "internal/postgres",
}

type goPackage struct {
	ImportPath, Doc, Name string
	Imports, Deps         []string
}

func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Doc,Name,Imports,Deps", module+"...")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	require.NoError(t, err, complaints.String())
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages = append(packages, p)
	}
}

func TestImportsRunDownwards(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range list(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		rules, public := allowed[name]
		seen[name] = true
		if !public {
			top, _, _ := strings.Cut(name, "/")
			assert.Contains(t, []string{"internal", "examples"}, top, "package %s has no rule", name)
			continue
		}
		for _, path := range p.Imports {
			assert.True(t, isStandard(path) || mayImport(rules, path), "%s imports %s", name, path)
		}
		for _, dep := range p.Deps {
			assert.False(t, within(testOnly, dep), "%s is built with %s", name, dep)
		}
	}
	for name := range allowed {
		assert.True(t, seen[name], "there is no package %s", name)
	}
}

func TestEveryPackageSaysWhatItPromises(t *testing.T) {
	t.Parallel()
	for _, p := range list(t) {
		if p.Name != "main" {
			assert.True(t, strings.HasPrefix(p.Doc, "Package "+p.Name+" "), "%s has no package comment", p.ImportPath)
		}
	}
}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".")
}

func mayImport(rules []string, path string) bool {
	if own, ok := strings.CutPrefix(path, module); ok {
		return slices.Contains(rules, own)
	}
	return within(rules, path)
}

// within reports whether a path is one of the modules', or below one.
func within(modules []string, path string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
}
