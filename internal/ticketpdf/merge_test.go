package ticketpdf_test

import (
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"codeberg.org/go-pdf/fpdf"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/ticketpdf"
)

// validate checks a file by the letter of ISO 32000.
func validate(t testing.TB, file []byte) {
	t.Helper()
	require.NoError(t, api.Validate(bytes.NewReader(file), &model.Configuration{
		Reader15: true, ValidationMode: model.ValidationStrict, Offline: true, Eol: "\n", Limits: model.DefaultResourceLimits(),
	}))
}

// foreign returns a PDF such as a host may have, of so many pages that say
// which they are.
func foreign(t testing.TB, name, size string, count int, change ...func(*fpdf.Fpdf)) []byte {
	t.Helper()
	pdf := fpdf.New("L", "mm", size, "")
	pdf.SetFont("Helvetica", "", 20)
	for _, change := range change {
		change(pdf)
	}
	for i := range count {
		pdf.AddPage()
		pdf.Text(20, 30, fmt.Sprintf("%s-%d", name, i+1))
	}
	var file bytes.Buffer
	require.NoError(t, pdf.Output(&file))
	return file.Bytes()
}

// stray returns a PDF with an object stream (ISO 32000-1, 7.5.7), to which its
// page refers as if it were content.
func stray() []byte {
	file := []byte("%PDF-1.7\n")
	entries := []byte{0, 0, 0, 0}
	for i, object := range []string{
		"<</Type /Catalog /Pages 2 0 R>>",
		"<</Type /Pages /Kids [3 0 R] /Count 1>>",
		"<</Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Resources <<>> /Extra [4 0 R 5 0 R]>>",
		"<</Type /ObjStm /N 1 /First 4 /Length 8>>\nstream\n5 0 <<>>\nendstream",
	} {
		entries = append(entries, 1, byte(len(file)>>8), byte(len(file)), 0)
		file = fmt.Appendf(file, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	start := len(file)
	entries = append(entries, 2, 0, 4, 0, 1, byte(start>>8), byte(start), 0)
	return fmt.Appendf(file, "6 0 obj\n<</Type /XRef /Size 7 /W [1 2 1] /Root 1 0 R /Length %d>>\nstream\n%s\nendstream\nendobj\n"+
		"startxref\n%d\n%%%%EOF\n", len(entries), entries, start)
}

// compressed returns a file as pdfcpu writes it, with object streams.
func compressed(t testing.TB, file []byte) []byte {
	t.Helper()
	var written bytes.Buffer
	require.NoError(t, api.Optimize(bytes.NewReader(file), &written, &model.Configuration{
		Reader15: true, ValidationMode: model.ValidationRelaxed, Offline: true, Eol: "\n", Limits: model.DefaultResourceLimits(),
		WriteObjectStream: true, WriteXRefStream: true, Optimize: true, OptimizeBeforeWriting: true,
	}))
	return written.Bytes()
}

var pageSize = regexp.MustCompile(`Page +\d+ size: +([\d.]+) x ([\d.]+) pts`)

func TestMergeKeepsOrderAndSizes(t *testing.T) {
	t.Parallel()
	ticket := draw(t, sample())
	for name, test := range map[string]struct {
		files [][]byte
		texts []string
		sizes []string
	}{
		"two": {
			[][]byte{foreign(t, "A", "A5", 1), foreign(t, "B", "A6", 2)},
			[]string{"A-1", "B-1", "B-2"}, []string{"595.28 420.94", "420.94 297.64", "420.94 297.64"},
		},
		"five": {
			[][]byte{foreign(t, "A", "A4", 2), ticket, compressed(t, foreign(t, "C", "A5", 3)), foreign(t, "D", "A6", 1), ticket},
			[]string{"A-1", "A-2", "A1042", "C-1", "C-2", "C-3", "D-1", "A1042"},
			[]string{"841.89 595.28", "841.89 595.28", "595.28 841.89", "595.28 420.94", "595.28 420.94", "595.28 420.94", "420.94 297.64", "595.28 841.89"},
		},
	} {
		merged, err := ticketpdf.Merge(test.files)
		require.NoError(t, err, name)
		texts := textOf(t, merged)
		require.Len(t, texts, len(test.texts), name)
		for i, want := range test.texts {
			assert.Contains(t, texts[i], want, name)
		}
		var sizes []string
		for _, match := range pageSize.FindAllStringSubmatch(run(t, merged, "pdfinfo", "-l", "99", "-"), -1) {
			sizes = append(sizes, match[1]+" "+match[2])
		}
		assert.Equal(t, test.sizes, sizes, name)
	}
}

func TestMergedPagesLookTheSame(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Brand.Logo = pngLogo(t)
	ticket := draw(t, d)
	merged, err := ticketpdf.Merge([][]byte{foreign(t, "A", "A4", 1), ticket})
	require.NoError(t, err)
	assert.Equal(t, render(t, ticket)[0], render(t, merged)[1])
}

func TestMergeIsTheSameBytes(t *testing.T) {
	t.Parallel()
	linked := foreign(t, "L", "A4", 3, func(pdf *fpdf.Fpdf) {
		pdf.SetHeaderFunc(func() {
			pdf.LinkString(10, 10, 20, 20, "https://entradas.example/")
			pdf.Bookmark("Uno", 0, 0)
		})
	})
	files := [][]byte{draw(t, sample()), linked, compressed(t, linked), foreign(t, "B", "A6", 2)}
	first, err := ticketpdf.Merge(files)
	require.NoError(t, err)
	for range 20 {
		again, err := ticketpdf.Merge(files)
		require.NoError(t, err)
		require.True(t, bytes.Equal(first, again))
	}
	assert.Contains(t, string(first), "(D:20260102030405)", "dated as the first file")
}

func TestMergeWritesWhatFilesShareOnce(t *testing.T) {
	t.Parallel()
	ticket := draw(t, sample())
	merged, err := ticketpdf.Merge([][]byte{ticket, ticket, ticket, ticket})
	require.NoError(t, err)
	assert.Less(t, len(merged), 2*len(ticket))
}

func TestOneFileIsReturnedAsItIs(t *testing.T) {
	t.Parallel()
	file := foreign(t, "A", "A4", 1)
	merged, err := ticketpdf.Merge([][]byte{file})
	require.NoError(t, err)
	assert.Equal(t, file, merged)
}

func TestFileThatCannotBeMerged(t *testing.T) {
	t.Parallel()
	good := foreign(t, "A", "A4", 3)
	protect := func(user string) func(*fpdf.Fpdf) {
		return func(pdf *fpdf.Fpdf) { pdf.SetProtection(0, user, "owner") }
	}
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"empty":              {nil, "is empty"},
		"no PDF":             {[]byte("Estimada clienta: no hay entradas."), ""},
		"HTML":               {[]byte("<!doctype html><title>502</title>"), ""},
		"header alone":       {[]byte("%PDF-1.7\n"), ""},
		"truncated":          {good[:len(good)/3], ""},
		"damaged":            {bytes.ReplaceAll(good, []byte("/Kids"), []byte("/Kxds")), ""},
		"no page tree":       {bytes.ReplaceAll(good, []byte("/Type /Pages"), []byte("/Type /Xages")), "has no page tree"},
		"no pages":           {bytes.ReplaceAll(good, []byte("/Kids [3 0 R 5 0 R 7 0 R ]\n/Count 3"), []byte("/Kids []\n/Count 0                  ")), "has no pages"},
		"encrypted":          {foreign(t, "A", "A4", 1, protect("secret")), "is encrypted"},
		"without a password": {foreign(t, "A", "A4", 1, protect("")), "is encrypted"},
	} {
		for index, files := range [][][]byte{{test.file}, {good, test.file}, {good, good, test.file}} {
			merged, err := ticketpdf.Merge(files)
			assert.ErrorContains(t, err, fmt.Sprintf("file %d: %s", index, test.want), name)
			assert.True(t, merged == nil, name) //nolint:testifylint // The message would be the whole file.
		}
	}
}

func TestFaultThatOnlyAResultShowsIsNamed(t *testing.T) {
	t.Parallel()
	good := foreign(t, "A", "A6", 1)
	_, err := ticketpdf.Merge([][]byte{good, stray(), good})
	assert.ErrorContains(t, err, "ticketpdf: merge: file 1: refers to a types.ObjectStreamDict")
}

func TestMergeIsBounded(t *testing.T) {
	t.Parallel()
	small := foreign(t, "A", "A6", 1)
	_, err := ticketpdf.Merge(nil)
	require.ErrorContains(t, err, "no files")
	_, err = ticketpdf.Merge(make([][]byte, ticketpdf.MaxFiles+1))
	require.ErrorContains(t, err, "61 files; at most 60 are allowed")
	_, err = ticketpdf.Merge([][]byte{small, make([]byte, ticketpdf.MaxMerged)})
	require.ErrorContains(t, err, "bytes; at most 20971520 are allowed")
	many := make([][]byte, ticketpdf.MaxFiles)
	for i := range many {
		many[i] = small
	}
	merged, err := ticketpdf.Merge(many)
	require.NoError(t, err)
	assert.Len(t, textOf(t, merged), ticketpdf.MaxFiles)
}

// Not parallel: it changes the environment.
func TestNothingIsWrittenIntoTheUsersFolders(t *testing.T) {
	home := t.TempDir()
	for _, variable := range []string{"HOME", "XDG_CONFIG_HOME", "TMPDIR"} {
		t.Setenv(variable, home)
	}
	ticket := draw(t, sample())
	_, err := ticketpdf.Merge([][]byte{ticket, ticket})
	require.NoError(t, err)
	entries, err := os.ReadDir(home)
	require.NoError(t, err)
	assert.Empty(t, entries)
	assert.Equal(t, "default", model.ConfigPath, "the host's own use of pdfcpu is left as it was")
}

func TestErrorsOfMergeHoldNoText(t *testing.T) {
	t.Parallel()
	_, err := ticketpdf.Merge([][]byte{[]byte(strings.Repeat("ana@example.com ", 100))})
	require.Error(t, err)
	assert.NotContains(t, err.Error(), "ana@")
}
