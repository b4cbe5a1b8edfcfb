package ticketpdf

// The page, in mm.
const (
	pageWidth    = 210
	pageHeight   = 297
	margin       = 15
	contentWidth = pageWidth - 2*margin

	bandHeight = 30
	noteWidth  = 55
	nameWidth  = contentWidth - noteWidth - gap
	gap        = 6 // between what stands side by side

	headingTop = bandHeight + 10
	bodyBottom = footerBottom - footerHeight - 6

	frameWidth  = 80 // of the frame around the QR code
	frameLeft   = pageWidth - margin - frameWidth
	frameRadius = 3
	codeInset   = 1 // keeps the rounded corners out of the quiet zone
	codeSide    = frameWidth - 2*codeInset
	codePadding = 3 // around the code in letters

	footerBottom = pageHeight - 10
	footerHeight = 29
)

var (
	nameChoices    = []choice{{face{sans, "B", 20, 1.2}, 1}, {face{sans, "B", 14, 1.2}, 2}}
	noteChoices    = []choice{{face{sans, "B", 12, 1.3}, 1}, {face{sans, "B", 10, 1.3}, 3}}
	headingChoices = []choice{{face{sans, "B", 26, 1.2}, 2}, {face{sans, "B", 18, 1.2}, 3}}
	linesChoices   = []choice{{face{sans, "", 12, 1.4}, 5}, {face{sans, "", 10, 1.35}, 7}}
	footerChoices  = []choice{{face{sans, "", 7.5, 1.35}, 8}, {face{sans, "", 6, 1.35}, 10}}
	codeFaces      = []face{{mono, "", 14, 1.3}, {mono, "", 9, 1.3}}
)

func (c *canvas) drawPage(p Page) error {
	c.pdf.AddPage()
	c.drawBand(clean(p.Note))
	c.drawFooter()
	y := c.drawHead(p)
	c.drawFields(p.Fields, y)
	return c.drawTicketCode(p.Code, y)
}

func (c *canvas) drawBand(note string) {
	c.fill(0, 0, pageWidth, bandHeight, 0, c.band)
	if c.logo != nil {
		c.drawLogo()
	} else {
		c.drawInBand(c.name, box{x: margin, width: nameWidth, align: atLeft}, nameChoices)
	}
	c.drawInBand(note, box{x: pageWidth - margin - noteWidth, width: noteWidth, align: flushEnd}, noteChoices)
}

// drawInBand writes a text halfway up the band.
func (c *canvas) drawInBand(text string, b box, choices []choice) {
	face, lines := c.fit(text, b.width, choices)
	b.y = (bandHeight - float64(len(lines))*face.line()) / 2
	b.ink = c.onBand
	c.write(b, face, lines)
}

// drawLogo draws the logo on a white plate, as large as the plate may be.
func (c *canvas) drawLogo() {
	const height, padding = 20, 3
	const top = (bandHeight - height) / 2.0
	scale := min((height-2*padding)/c.logo.Height(), (nameWidth-2*padding)/c.logo.Width())
	w, h := c.logo.Width()*scale, c.logo.Height()*scale
	c.fill(margin, top, w+2*padding, height, 2, white)
	c.pdf.Image(logoName, margin+padding, (bandHeight-h)/2, w, h, false, "", 0, "")
}

func (c *canvas) drawFooter() {
	y := footerBottom - float64(len(c.footer))*c.footerFace.line()
	if len(c.footer) > 0 {
		c.line(margin, y-3, contentWidth)
	}
	c.write(box{margin, y, contentWidth, centred, faint}, c.footerFace, c.footer)
}

// drawHead writes the heading and the lines under it, and returns where the
// body begins.
func (c *canvas) drawHead(p Page) (bottom float64) {
	face, lines := c.fit(clean(p.Heading), contentWidth, headingChoices)
	y := c.write(box{margin, headingTop, contentWidth, atLeft, ink}, face, lines)
	face, lines = c.fit(joined(p.Lines), contentWidth, linesChoices)
	y = c.write(box{margin, y + 2, contentWidth, atLeft, ink}, face, lines)
	c.line(margin, y+4, contentWidth)
	return y + 10
}

// drawTicketCode draws the QR code in a frame, with the code in letters under
// it, which is never shortened.
func (c *canvas) drawTicketCode(code string, y float64) error {
	const width = frameWidth - 2*codePadding
	face, lines := c.setCode(clean(code), width)
	bottom := c.write(box{frameLeft + codePadding, y + frameWidth, width, centred, ink}, face, lines)
	c.frame(frameLeft, y, frameWidth, bottom+codePadding-y, frameRadius)
	return c.drawCode(code, frameLeft+codeInset, y+codeInset, codeSide)
}

// setCode breaks a code anywhere, since a break at a space would hide it.
func (c *canvas) setCode(code string, width float64) (f face, lines []string) {
	for _, f = range codeFaces {
		if lines = chop(code, width, c.measure(f)); len(lines) <= 2 {
			break
		}
	}
	return f, lines
}
