package ticketpdf_test

import (
	"bytes"
	"fmt"
	"html"
	"image"
	_ "image/png" // what pdftoppm writes
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/testtools"
	"github.com/buzon-go/buzon/internal/ticketpdf"
)

// sample returns a document of one usual page.
func sample() ticketpdf.Document {
	return ticketpdf.Document{
		Title:    "Entradas de la compra A-1042",
		Language: "es",
		Brand: ticketpdf.Brand{
			Name: "Teatro Nacional", Color: "#7a1f3d", OnColor: "#ffffff",
			Footer: []string{"Teatro Nacional · Avenida 2, San José", "Presente esta entrada en la puerta."},
		},
		Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Pages:   []ticketpdf.Page{samplePage("A1042-7F3K9Q")},
	}
}

func samplePage(code string) ticketpdf.Page {
	return ticketpdf.Page{
		Heading: "La casa de Bernarda Alba",
		Lines:   []string{"sábado 14 de marzo de 2026, 19:30 (UTC−6)", "Sala principal"},
		Fields:  []ticketpdf.Field{{Label: "Titular", Value: "María Muñoz"}, {Label: "Asiento", Value: "C 12"}},
		Code:    code,
		Note:    "Entrada 1 de 1",
	}
}

// pages returns so many pages, with the codes T-1, T-2 and so on.
func pages(count int) []ticketpdf.Page {
	all := make([]ticketpdf.Page, count)
	for i := range all {
		all[i] = samplePage(fmt.Sprintf("T-%d", i+1))
	}
	return all
}

// draw returns the document as a PDF that was validated.
func draw(t testing.TB, d ticketpdf.Document) []byte {
	t.Helper()
	file, err := ticketpdf.Draw(d)
	require.NoError(t, err)
	validate(t, file)
	return file
}

// run gives a file to one of poppler's programs, and returns what it prints.
func run(t *testing.T, file []byte, program string, args ...string) string {
	t.Helper()
	path := testtools.Find(t, program, "poppler-utils")
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdin = bytes.NewReader(file)
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	printed, err := cmd.Output()
	require.NoError(t, err, complaints.String())
	require.Empty(t, complaints.String())
	return string(printed)
}

// textOf returns the text of each page.
func textOf(t *testing.T, file []byte) []string {
	t.Helper()
	all := strings.Split(run(t, file, "pdftotext", "-", "-"), "\f")
	return all[:len(all)-1]
}

const dpi = 100

// render returns the pages as pictures.
func render(t *testing.T, file []byte) []image.Image {
	t.Helper()
	folder := t.TempDir()
	run(t, file, "pdftoppm", "-png", "-r", strconv.Itoa(dpi), "-", filepath.Join(folder, "page"))
	names, err := filepath.Glob(filepath.Join(folder, "*.png"))
	require.NoError(t, err)
	pictures := make([]image.Image, len(names))
	for i, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		pictures[i], _, err = image.Decode(bytes.NewReader(content))
		require.NoError(t, err)
	}
	return pictures
}

// scan reads the QR code of a page as a gate would.
func scan(t *testing.T, picture image.Image) *gozxing.Result {
	t.Helper()
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	require.NoError(t, err)
	result, err := qrcode.NewQRCodeReader().Decode(bitmap, map[gozxing.DecodeHintType]any{
		gozxing.DecodeHintType_CHARACTER_SET: "UTF-8",
	})
	require.NoError(t, err)
	return result
}

// An area is a part of a page in points, from its left upper corner.
type area struct{ left, top, right, bottom float64 }

func (a area) overlaps(b area) bool {
	return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

func (a area) within(b area) bool {
	return a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom
}

// grown returns the area with so much more on each side.
func (a area) grown(by float64) area {
	return area{a.left - by, a.top - by, a.right + by, a.bottom + by}
}

// A word is one that pdftotext finds on a page.
type word struct {
	area
	text string
}

var (
	pageElement = regexp.MustCompile(`(?s)<page width="([\d.]+)" height="([\d.]+)">(.*?)</page>`)
	wordElement = regexp.MustCompile(`<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)</word>`)
)

// wordsOf returns the words of a file's only page, and the page.
func wordsOf(t *testing.T, file []byte) (words []word, page area) {
	t.Helper()
	found := pageElement.FindAllStringSubmatch(run(t, file, "pdftotext", "-bbox", "-", "-"), -1)
	require.Len(t, found, 1)
	for _, match := range wordElement.FindAllStringSubmatch(found[0][3], -1) {
		words = append(words, word{
			area{number(t, match[1]), number(t, match[2]), number(t, match[3]), number(t, match[4])},
			html.UnescapeString(match[5]),
		})
	}
	return words, area{right: number(t, found[0][1]), bottom: number(t, found[0][2])}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	require.NoError(t, err)
	return n
}
