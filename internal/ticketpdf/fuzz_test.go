package ticketpdf_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/internal/ticketpdf"
)

func FuzzDraw(f *testing.F) {
	for _, seed := range []string{
		"", "La casa de Bernarda Alba", "Nguyễn Thị Ánh\nŁukasz\r\n", "e\u0301\u0301\u0301", "🎉👩‍👩‍👧 שלום \u202e", "\x00\xff\xfe\ufffd",
		strings.Repeat("W", 600), "\U0001f3f4\U000e0067\U000e007f\U0010ffff", "()\\<</Lang>>\r\n%%EOF", "\u0a0d\u0d0a\u0d28\u0dbf",
	} {
		f.Add(seed, "A1042", seed)
		f.Add("Evento", seed, "")
	}
	f.Fuzz(func(t *testing.T, text, code, other string) {
		d := sample()
		d.Title, d.Brand.Name, d.Brand.Footer = text, other, []string{other, text}
		d.Pages[0] = ticketpdf.Page{
			Heading: text, Lines: []string{other, text}, Code: code, Note: other,
			Fields: []ticketpdf.Field{{Label: text, Value: other}, {Label: other, Value: text}},
		}
		file, err := ticketpdf.Draw(d)
		if err != nil {
			require.ErrorContains(t, err, "Code")
			return
		}
		require.True(t, code != "" && len(code) <= ticketpdf.MaxCode && utf8.ValidString(code))
		validate(t, file)
	})
}

func FuzzMerge(f *testing.F) {
	good := foreign(f, "A", "A6", 1)
	f.Add(good, uint16(100), byte('x'))
	f.Add(draw(f, sample()), uint16(9), byte('<'))
	f.Add(compressed(f, good), uint16(200), byte('0'))
	f.Add([]byte("%PDF-1.7\ntrailer<</Root 1 0 R>>"), uint16(0), byte('%'))
	f.Fuzz(func(t *testing.T, file []byte, at uint16, instead byte) {
		if len(file) > 0 {
			file = append([]byte(nil), file...)
			file[int(at)%len(file)] = instead
		}
		merged, err := ticketpdf.Merge([][]byte{good, file})
		if err != nil {
			require.ErrorContains(t, err, "ticketpdf: merge: ")
			return
		}
		_, err = ticketpdf.Merge([][]byte{merged})
		require.NoError(t, err)
	})
}
