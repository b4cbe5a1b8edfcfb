package view_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

func TestParseMoney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount, currency string
		minor            int64
	}{
		{"1450.5", "UYU", 145_050}, {"0", "UYU", 0}, {"-0.01", "EUR", -1}, {"+7", "USD", 700}, {"1450.500", "UYU", 145_050},
		{"123450", "CLP", 123_450}, {"123450.00", "CLP", 123_450}, {"1.234", "BHD", 1_234}, {"90071992547409.92", "UYU", 1 << 53},
	} {
		money, err := view.ParseMoney(c.amount, c.currency)
		assert.NoError(t, err, c.amount)
		assert.Equal(t, view.Money{Minor: c.minor, Currency: c.currency}, money)
	}
	for _, c := range [][3]string{
		{"", "UYU", "no decimal number"}, {"1,5", "UYU", "no decimal number"}, {"1e3", "UYU", "no decimal number"}, {"1/2", "UYU", "no decimal number"},
		{"0x10", "UYU", "no decimal number"}, {"NaN", "UYU", "no decimal number"}, {" 1", "UYU", "no decimal number"}, {"1.", "UYU", "no decimal number"},
		{"1.005", "UYU", "more decimals"}, {"0.5", "CLP", "more decimals"}, {"1", "ABC", "no currency"}, {"1", "uyu", "no currency"}, {"1", "", "no currency"},
		{"99999999999999999999", "UYU", "more than 2^53"}, {"90071992547409.93", "UYU", "more than 2^53"},
	} {
		_, err := view.ParseMoney(c[0], c[1])
		assert.ErrorContains(t, err, c[2], c[0])
	}
}
