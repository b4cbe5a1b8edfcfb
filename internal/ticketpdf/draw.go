package ticketpdf

import (
	"bytes"
	"fmt"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// Draw returns the document as a PDF. The same document gives the same bytes,
// in every process of the same build. An error names each field that cannot be
// drawn, and repeats none of its text but colours and the language.
func Draw(d Document) (file []byte, err error) {
	defer rescue("ticketpdf: draw", &err)
	if err := d.check(); err != nil {
		return nil, fmt.Errorf("ticketpdf: draw: %w", err)
	}
	logo, err := prepareLogo(d.Brand.Logo)
	if err != nil {
		return nil, fmt.Errorf("ticketpdf: draw: %w", err)
	}
	pdf := newFile(d)
	canvas := newCanvas(pdf, d.Brand, logo)
	for i, page := range d.Pages {
		if err := canvas.drawPage(page); err != nil {
			return nil, fmt.Errorf("ticketpdf: draw: Pages[%d].Code: %w", i, err)
		}
	}
	var buffer bytes.Buffer
	if err := pdf.Output(&buffer); err != nil {
		return nil, fmt.Errorf("ticketpdf: draw: %w", err)
	}
	if d.Created.IsZero() {
		return withoutDates(buffer.Bytes()), nil
	}
	return buffer.Bytes(), nil
}

// rescue turns a panic of a library into an error.
func rescue(operation string, err *error) {
	if fault := recover(); fault != nil {
		*err = fmt.Errorf("%s: %v", operation, fault)
	}
}

// noDate stands for no date while fpdf writes, which would take a zero one for
// the present.
var noDate = time.Date(1, 1, 1, 0, 0, 1, 0, time.UTC)

// newFile returns an empty file. Nothing in it is left to fpdf's package-wide
// defaults, which belong to the host.
func newFile(d Document) *fpdf.Fpdf {
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.SetCatalogSort(true)
	pdf.SetCompression(true)
	created := d.Created.UTC()
	if created.IsZero() {
		created = noDate
	}
	pdf.SetCreationDate(created)
	pdf.SetModificationDate(created)
	pdf.SetTitle(oneLine(d.Title), true)
	pdf.SetAuthor(oneLine(d.Brand.Name), true)
	pdf.SetLang(d.Language)
	pdf.SetAutoPageBreak(false, 0)
	addFonts(pdf)
	return pdf
}

// withoutDates blanks the dates out, which leaves all else where it is. They
// stand in the document information, of which the texts are UTF-16, and after
// which only the catalogue follows.
func withoutDates(file []byte) []byte {
	stamp := noDate.Format("20060102150405")
	for _, key := range []string{"/CreationDate (D:", "/ModDate (D:"} {
		date := []byte(key + stamp + ")")
		if at := bytes.LastIndex(file, date); at >= 0 {
			copy(file[at:], bytes.Repeat([]byte(" "), len(date)))
		}
	}
	return file
}
