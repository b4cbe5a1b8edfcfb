package ticketpdf

import (
	"fmt"
	"math"
	"strings"

	"rsc.io/qr"
)

// quietZone is the blank frame of a QR code in modules (ISO/IEC 18004).
const quietZone = 4

// drawCode draws a QR code, with its quiet zone, into a square of which the
// left upper corner is given, in mm. It is one path of rectangles, one for each
// run of dark modules in a row: filled at once, they show no seams.
func (c *canvas) drawCode(text string, x, y, side float64) error {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return err
	}
	modules := float64(code.Size + 2*quietZone)
	// Whole hundredths of a point, as they are written, make all modules alike.
	module := math.Floor(side/mmPerPoint/modules*100) / 100
	margin := (side/mmPerPoint - module*float64(code.Size)) / 2
	left, top := x/mmPerPoint+margin, (pageHeight-y)/mmPerPoint-margin
	var path strings.Builder
	path.WriteString("q 0 g\n")
	for row := range code.Size {
		for from, to := range darkRuns(code, row) {
			fmt.Fprintf(&path, "%.2f %.2f %.2f %.2f re\n",
				left+module*float64(from), top-module*float64(row+1), module*float64(to-from), module)
		}
	}
	path.WriteString("f Q")
	c.pdf.RawWriteStr(path.String())
	return nil
}

// darkRuns yields the runs of dark modules in a row: first and one past last.
func darkRuns(code *qr.Code, row int) func(yield func(from, to int) bool) {
	return func(yield func(from, to int) bool) {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, row) {
				x++
			}
			if x > from && !yield(from, x) {
				return
			}
		}
	}
}
