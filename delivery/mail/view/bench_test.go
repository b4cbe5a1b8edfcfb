package view_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// BenchmarkNew is what a view costs once, in one language: reading, inlining,
// and trying it with two samples.
func BenchmarkNew(b *testing.B) {
	files := baseSet().files()
	b.ReportAllocs()
	for b.Loop() {
		_, err := view.New(files, "order", samples()...)
		require.NoError(b, err)
	}
}

// BenchmarkRender is what a message costs.
func BenchmarkRender(b *testing.B) {
	v, brand, data := baseSet().view(b), view.SampleBrand(), samples()[0]
	b.ReportAllocs()
	for b.Loop() {
		_, err := v.Render(b.Context(), brand, view.Reader{Name: "Ana", Languages: []string{"es-UY"}}, data)
		require.NoError(b, err)
	}
}
