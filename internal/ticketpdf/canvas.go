package ticketpdf

import (
	"bytes"
	"strings"

	"codeberg.org/go-pdf/fpdf"
)

// A canvas draws on the file's last page. Places are in mm from its left upper
// corner.
type canvas struct {
	pdf          *fpdf.Fpdf
	name         string // the brand's
	band, onBand color
	logo         *fpdf.ImageInfoType // nil for none
	footer       []string
	footerFace   face
}

const logoName = "logo"

func newCanvas(pdf *fpdf.Fpdf, brand Brand, logo []byte) *canvas {
	c := &canvas{
		pdf:    pdf,
		name:   clean(brand.Name),
		band:   parseColor(brand.Color),
		onBand: parseColor(brand.OnColor),
	}
	if logo != nil {
		c.logo = pdf.RegisterImageOptionsReader(logoName, fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(logo))
	}
	c.footerFace, c.footer = c.fit(joined(brand.Footer), contentWidth, footerChoices)
	return c
}

// joined returns texts as the lines of one, cleaned.
func joined(texts []string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString(clean(text) + "\n")
		if b.Len() > maxText*len(ellipsis) {
			break // No place holds more.
		}
	}
	return b.String()
}

// oneLine returns text cleaned, its lines joined by spaces.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(clean(text), func(r rune) bool { return r == ' ' || r == '\n' }), " ")
}

// A choice is a way to set a text: a face, and how many lines of it there is
// room for.
type choice struct {
	face face
	most int
}

// fit sets clean text by the first choice that takes all of it, or else by the
// last, shortened.
func (c *canvas) fit(text string, width float64, choices []choice) (face, []string) {
	for _, choice := range choices {
		if lines := wrap(text, width, choice.most+1, c.measure(choice.face)); len(lines) <= choice.most {
			return choice.face, lines
		}
	}
	last := choices[len(choices)-1]
	return last.face, wrap(text, width, last.most, c.measure(last.face))
}

func (c *canvas) use(f face) { c.pdf.SetFont(f.family, f.style, f.size) }

func (c *canvas) measure(f face) measure {
	c.use(f)
	return c.pdf.GetStringWidth
}

// An align says where in its width a line stands.
type align float64

const (
	atLeft   align = 0
	centred  align = 0.5
	flushEnd align = 1
)

// A box is a place for text, as high as its lines.
type box struct {
	x, y, width float64
	align       align
	ink         color
}

// write draws lines into a box, and returns where it ends.
func (c *canvas) write(b box, f face, lines []string) (bottom float64) {
	c.use(f)
	c.pdf.SetTextColor(b.ink.r, b.ink.g, b.ink.b)
	for _, line := range lines {
		indent := (b.width - c.pdf.GetStringWidth(line)) * float64(b.align)
		c.pdf.Text(b.x+indent, b.y+f.baseline(), line)
		b.y += f.line()
	}
	return b.y
}

func (c *canvas) fill(x, y, width, height, radius float64, with color) {
	c.pdf.SetFillColor(with.r, with.g, with.b)
	c.pdf.RoundedRect(x, y, width, height, radius, "1234", "F")
}

func (c *canvas) frame(x, y, width, height, radius float64) {
	c.pen()
	c.pdf.RoundedRect(x, y, width, height, radius, "1234", "D")
}

func (c *canvas) line(x, y, width float64) {
	c.pen()
	c.pdf.Line(x, y, x+width, y)
}

func (c *canvas) pen() {
	c.pdf.SetLineWidth(0.3)
	c.pdf.SetDrawColor(rule.r, rule.g, rule.b)
}
