package delivery

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whatever the order of the call, jobs without a key come first, as they were,
// and the keys follow in an order of their own.
func TestBatchesWriteKeysInOneOrder(t *testing.T) {
	t.Parallel()
	row := func(tenant, jobType, key string) jobRow {
		return jobRow{tenant: tenant, jobType: jobType, uniqueKey: nilIfZero(key)}
	}
	keyed := []jobRow{row("b", "b", "1"), row("a", "a", "2"), row("a", "b", "2"), row("b", "a", "2"), row("a", "a", "3")}
	plain := []jobRow{row("z", "z", ""), row("a", "a", ""), row("m", "a", "")}
	for range 20 {
		var rows []jobRow
		for _, i := range rand.Perm(len(keyed)) {
			rows = append(rows, keyed[i])
		}
		rows = append(rows, plain...)
		var got []jobRow
		for _, i := range newBatch(rows).open {
			got = append(got, rows[i])
		}
		assert.Equal(t, append(plain[:3:3], keyed...), got)
	}
}
