package ticketpdf_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/ticketpdf"
)

func TestSameDocumentIsTheSameBytes(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]ticketpdf.Document{"dated": sample(), "undated": {
		Brand: sample().Brand, Pages: pages(3),
	}} {
		d.Brand.Logo = pngLogo(t)
		first := draw(t, d)
		for range 8 {
			again, err := ticketpdf.Draw(d)
			require.NoError(t, err)
			assert.Equal(t, sha256.Sum256(first), sha256.Sum256(again), name)
		}
	}
}

// inChild makes a run of the test print what it drew.
const inChild = "BUZON_TICKETPDF_CHILD"

func TestEveryProcessDrawsTheSameBytes(t *testing.T) {
	drawn := fmt.Sprintf("drew %x", sha256.Sum256(draw(t, sample())))
	if os.Getenv(inChild) != "" {
		fmt.Println(drawn)
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), inChild+"=1", "TZ=Asia/Tokyo")
	printed, err := child.Output()
	require.NoError(t, err)
	assert.Contains(t, string(printed), drawn)
}

func TestFileSaysWhatItIs(t *testing.T) {
	t.Parallel()
	file := draw(t, sample())
	assert.Contains(t, string(file), "/Lang (es)")
	info := run(t, file, "pdfinfo", "-isodates", "-")
	assert.Regexp(t, `Title: +Entradas de la compra A-1042\n`, info)
	assert.Regexp(t, `Author: +Teatro Nacional\n`, info)
	assert.Regexp(t, `CreationDate: +2026-01-02T03:04:05Z\n`, info)
	assert.Regexp(t, `Page size: .*A4`, info)
}

func TestNoCreationDateIsNone(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Created = time.Time{}
	file := draw(t, d)
	assert.NotContains(t, string(file), "Date")
	assert.Regexp(t, `Title: +Entradas`, run(t, file, "pdfinfo", "-"))
}

func TestPagesKeepTheirOrder(t *testing.T) {
	t.Parallel()
	for _, count := range []int{1, 60} {
		d := sample()
		d.Pages = pages(count)
		texts := textOf(t, draw(t, d))
		require.Len(t, texts, count)
		for i, text := range texts {
			assert.Contains(t, text, fmt.Sprintf("T-%d\n", i+1))
		}
	}
}

func TestAsManyPagesAsAllowed(t *testing.T) {
	t.Parallel()
	d := sample()
	d.Pages = pages(ticketpdf.MaxPages)
	file, err := ticketpdf.Draw(d)
	require.NoError(t, err)
	assert.Less(t, len(file), 4<<20, "an e-mail can hold it")
}

func TestBandHasTheBrandsColour(t *testing.T) {
	t.Parallel()
	r, g, b, _ := render(t, draw(t, sample()))[0].At(2, 2).RGBA()
	assert.Equal(t, "7a1f3d", fmt.Sprintf("%02x%02x%02x", r>>8, g>>8, b>>8))
}

func TestFaultsAreNamed(t *testing.T) {
	t.Parallel()
	for want, spoil := range map[string]func(*ticketpdf.Document){
		`Brand.Color is "red"; want #rrggbb`: func(d *ticketpdf.Document) { d.Brand.Color = "red" },
		`Brand.Color is ""; want #rrggbb`:    func(d *ticketpdf.Document) { d.Brand.Color = "" },
		`Brand.OnColor is "#12345g"`:         func(d *ticketpdf.Document) { d.Brand.OnColor = "#12345g" },
		`Language "es)/X" is no BCP 47 tag`:  func(d *ticketpdf.Document) { d.Language = "es)/X" },
		`Created is in the year 10000`:       func(d *ticketpdf.Document) { d.Created = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		`Pages is empty`:                     func(d *ticketpdf.Document) { d.Pages = nil },
		`Pages has 501; at most 500`:         func(d *ticketpdf.Document) { d.Pages = pages(501) },
		`Pages[1].Code is empty`:             func(d *ticketpdf.Document) { d.Pages = append(d.Pages, ticketpdf.Page{}) },
		`Pages[0].Code has 301 bytes`:        func(d *ticketpdf.Document) { d.Pages[0].Code = strings.Repeat("x", 301) },
		`Pages[0].Code is not UTF-8`:         func(d *ticketpdf.Document) { d.Pages[0].Code = "\xff" },
		`Pages[0].Code holds U+000A, which`:  func(d *ticketpdf.Document) { d.Pages[0].Code = "a\nb" },
		`Pages[0].Code holds U+200B, which`:  func(d *ticketpdf.Document) { d.Pages[0].Code = "a\u200bb" },
	} {
		d := sample()
		spoil(&d)
		_, err := ticketpdf.Draw(d)
		assert.ErrorContains(t, err, want)
	}
	_, err := ticketpdf.Draw(ticketpdf.Document{})
	for _, want := range []string{"Brand.Color", "Brand.OnColor", "Pages"} {
		assert.ErrorContains(t, err, want, "all faults at once")
	}
}

func TestDrawsAndMergesAtTheSameTime(t *testing.T) {
	t.Parallel()
	want := draw(t, sample())
	merged, err := ticketpdf.Merge([][]byte{want, want})
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			file, err := ticketpdf.Draw(sample())
			assert.NoError(t, err)
			assert.Equal(t, sha256.Sum256(want), sha256.Sum256(file))
			again, err := ticketpdf.Merge([][]byte{want, want})
			assert.NoError(t, err)
			assert.Equal(t, sha256.Sum256(merged), sha256.Sum256(again))
		})
	}
	group.Wait()
}

func BenchmarkDraw(b *testing.B) {
	for _, count := range []int{1, 60} {
		b.Run(fmt.Sprintf("tickets=%d", count), func(b *testing.B) {
			d := sample()
			d.Pages = pages(count)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ticketpdf.Draw(d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
