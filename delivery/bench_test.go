package delivery_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
)

// BenchmarkInsertMany writes jobs in batches of 1,000, each in a transaction of
// its own.
func BenchmarkInsertMany(b *testing.B) {
	queue := newQueue(b, pgtest.New(b))
	jobs := make([]delivery.JobParams, 1000)
	for i := range jobs {
		jobs[i] = delivery.JobParams{Type: "a", Tenant: "acme", Payload: map[string]int{"socio_id": i}}
	}
	for b.Loop() {
		err := queue.BeginFunc(b.Context(), func(tx pgx.Tx) error {
			_, err := queue.InsertMany(b.Context(), tx, jobs)
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(jobs))/b.Elapsed().Seconds(), "rows/s")
}
