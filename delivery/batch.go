package delivery

import (
	"cmp"
	"slices"
	"time"
)

// batch is jobs that are being written together.
type batch struct {
	rows     []jobRow
	inserted []Inserted // what became of each row
	open     []int      // rows without an id as yet, in the order of writing
}

// newBatch puts the jobs into the order of writing: first those without a
// unique key, as they are, then those with one, in the order of the keys, so
// that batches which share keys wait for each other and never deadlock.
func newBatch(rows []jobRow) *batch {
	b := &batch{rows: rows, inserted: make([]Inserted, len(rows)), open: make([]int, len(rows))}
	for i := range rows {
		b.open[i] = i
	}
	slices.SortStableFunc(b.open, func(i, k int) int {
		one, other := rows[i].key(), rows[k].key()
		if one.unique == "" && other.unique == "" {
			return 0
		}
		return cmp.Or(
			cmp.Compare(one.unique, other.unique),
			cmp.Compare(one.tenant, other.tenant),
			cmp.Compare(one.jobType, other.jobType))
	})
	return b
}

// settle gives open jobs the ids that a statement returned for their keys, to
// the jobs of one key in their order, and reports whether none is open any more.
func (b *batch) settle(ids map[jobKey][]int64, duplicates bool) (done bool) {
	b.open = slices.DeleteFunc(b.open, func(i int) bool {
		key := b.rows[i].key()
		if len(ids[key]) == 0 {
			return false
		}
		b.inserted[i] = Inserted{ID: ids[key][0], Duplicate: duplicates}
		ids[key] = ids[key][1:]
		return true
	})
	return len(b.open) == 0
}

// columns returns the open jobs as the arrays that insertMany takes.
func (b *batch) columns() []any {
	return []any{
		column(b, func(r jobRow) string { return r.jobType }),
		column(b, func(r jobRow) string { return r.tenant }),
		column(b, func(r jobRow) string { return r.payload }),
		column(b, func(r jobRow) int { return r.payloadVersion }),
		column(b, func(r jobRow) *string { return r.uniqueKey }),
		column(b, func(r jobRow) int16 { return r.priority }),
		column(b, func(r jobRow) *string { return r.createdBy }),
		column(b, func(r jobRow) int { return r.maxRetries }),
		column(b, func(r jobRow) *time.Time { return r.notBefore }),
		column(b, func(r jobRow) *time.Time { return r.notAfter }),
	}
}

// keys returns the open jobs' keys as the arrays that findMany takes.
func (b *batch) keys() []any {
	return []any{
		column(b, func(r jobRow) string { return r.jobType }),
		column(b, func(r jobRow) string { return r.tenant }),
		column(b, func(r jobRow) *string { return r.uniqueKey }),
	}
}

// column returns one value of each open job.
func column[T any](b *batch, value func(jobRow) T) []T {
	values := make([]T, len(b.open))
	for n, i := range b.open {
		values[n] = value(b.rows[i])
	}
	return values
}
