package ticketpdf

import "strings"

// A density is a way to set the fields.
type density struct {
	label face
	value choice
	space float64 // under each row, mm
}

// densities are from wide to close. By the last one, [MaxFields] fields have
// room on any page.
var densities = []density{
	{face{sans, "", 8.5, 1.3}, choice{face{sans, "B", 13, 1.25}, 5}, 6},
	{face{sans, "", 7.5, 1.3}, choice{face{sans, "B", 10, 1.25}, 4}, 4},
	{face{sans, "", 6.5, 1.25}, choice{face{sans, "B", 8.5, 1.25}, 2}, 2.5},
	{face{sans, "", 6.5, 1.2}, choice{face{sans, "B", 8.5, 1.2}, 1}, 1.5},
	{face{sans, "", 5.5, 1.15}, choice{face{sans, "B", 7, 1.15}, 1}, 1},
}

const (
	columns     = 2
	columnWidth = (frameLeft - gap - margin - (columns-1)*gap) / columns
)

// A cell is a field, set.
type cell struct{ label, value []string }

// drawFields draws the fields from y on, in the first density in which they do
// not run into the footer.
func (c *canvas) drawFields(fields []Field, y float64) {
	fields = presentable(fields)
	for i, density := range densities {
		rows := c.set(fields, density)
		if i == len(densities)-1 || y+density.height(rows) <= bodyBottom {
			c.drawRows(rows, density, y)
			return
		}
	}
}

// presentable returns the fields that have a value, cleaned. Where there are
// more than [MaxFields], the last one stands for the rest.
func presentable(fields []Field) []Field {
	var kept []Field
	for _, field := range fields {
		field = Field{clean(field.Label), strings.TrimSpace(clean(field.Value))}
		if field.Value == "" {
			continue
		}
		if len(kept) == MaxFields {
			kept[MaxFields-1] = Field{Value: ellipsis}
			break
		}
		kept = append(kept, field)
	}
	return kept
}

// set returns the fields as rows of cells.
func (c *canvas) set(fields []Field, d density) [][]cell {
	var rows [][]cell
	for i, field := range fields {
		if i%columns == 0 {
			rows = append(rows, nil)
		}
		last := &rows[len(rows)-1]
		*last = append(*last, cell{
			label: wrap(field.Label, columnWidth, 1, c.measure(d.label)),
			value: wrap(field.Value, columnWidth, d.value.most, c.measure(d.value.face)),
		})
	}
	return rows
}

// height returns that of rows in mm, without the space under the last one.
func (d density) height(rows [][]cell) float64 {
	height := -d.space
	for _, row := range rows {
		height += d.rowHeight(row)
	}
	return height
}

func (d density) rowHeight(row []cell) float64 {
	most := 0
	for _, cell := range row {
		most = max(most, len(cell.value))
	}
	return d.label.line() + float64(most)*d.value.face.line() + d.space
}

func (c *canvas) drawRows(rows [][]cell, d density, y float64) {
	for _, row := range rows {
		for i, cell := range row {
			x := margin + float64(i)*(columnWidth+gap)
			c.write(box{x, y, columnWidth, atLeft, faint}, d.label, cell.label)
			c.write(box{x, y + d.label.line(), columnWidth, atLeft, ink}, d.value.face, cell.value)
		}
		y += d.rowHeight(row)
	}
}
