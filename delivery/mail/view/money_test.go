package view_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

func TestMoneyIsWrittenAsInTheReadersCountry(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		tag      string
		minor    int64
		currency string
		want     string // "~" for U+00A0
	}{
		{"es", 123450, "UYU", "1.234,50~UYU"},
		{"es", -123450, "UYU", "-1.234,50~UYU"},
		{"es-ES", 5, "EUR", "0,05~€"},
		{"es", 123450, "USD", "1.234,50~US$"},
		{"es-UY", 123450, "UYU", "$~1.234,50"},
		{"es-UY", -123450, "UYU", "-$~1.234,50"},
		{"es-UY", 123450, "USD", "US$~1.234,50"},
		{"es-UY", 123450, "ARS", "ARS~1.234,50"},
		{"es-UY", 12345678, "UYW", "UYW~1.234,5678"},
		{"es-AR", 123450, "ARS", "$~1.234,50"},
		{"es-AR", 0, "ARS", "$~0,00"},
		{"es-MX", 123450, "MXN", "$1,234.50"},
		{"es-MX", -123450, "USD", "-USD~1,234.50"},
		{"es-419", 123450, "UYU", "UYU~1,234.50"},
		{"es-CL", 123450, "CLP", "$123.450"},
		{"es-CL", -123450, "CLP", "$-123.450"},
		{"es-PY", 123450, "PYG", "Gs.~123.450"},
		{"es-PY", -123450, "PYG", "Gs.~-123.450"},
		{"es-CO", 123450, "COP", "$~1.234,50"},
		{"es-VE", 123450, "VES", "VES~1.234,50"},
		{"en", 123450, "UYU", "UYU~1,234.50"},
		{"en-US", 123450, "USD", "$1,234.50"},
		{"en-US", -5, "USD", "-$0.05"},
		{"en-US", 123450, "JPY", "¥123,450"},
		{"en-GB", 123450, "GBP", "£1,234.50"},
		{"en-GB", 123450, "USD", "US$1,234.50"},
		{"en-US", 123450, "KWD", "KWD~123.450"},
		{"en-US", 123450, "RSD", "RSD~1,234.50"},
		{"pt", 123450, "BRL", "R$~1.234,50"},
		{"pt-BR", -123450, "BRL", "-R$~1.234,50"},
		{"pt-PT", 123450, "EUR", "1~234,50~€"},
	} {
		money := view.Money{Minor: test.minor, Currency: test.currency}
		require.NoError(t, money.Validate())
		assert.Equal(t, strings.ReplaceAll(test.want, "~", "\u00a0"), locale(t, test.tag).Money(money), "%+v", test)
	}
}

// The exceptions of ISO 4217 to two decimals, and some that the CLDR makes one.
func TestMoneyHasTheDecimalsOfItsCurrency(t *testing.T) {
	t.Parallel()
	for one, currencies := range map[string]string{
		"1":      "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
		"0.01":   "UYU ARS BRL COP CRC USD EUR HUF RSD LBP MGA MRU STN VES",
		"0.001":  "BHD IQD JOD KWD LYD OMR TND",
		"0.0001": "CLF UYW",
	} {
		for _, currency := range strings.Fields(currencies) {
			money := view.Money{Minor: 1, Currency: currency}
			require.NoError(t, money.Validate())
			assert.Equal(t, one, strings.TrimLeftFunc(locale(t, "en").Money(money), notDigit), currency)
		}
	}
}

// Every amount can be read back to its last minor unit, also where floating
// point no longer tells two of them apart.
func TestNoMinorUnitIsLost(t *testing.T) {
	t.Parallel()
	const most = 1 << 53
	random := rand.New(rand.NewPCG(4217, 53))
	amounts := []int64{0, 1, -1, 9, 10, 99, 100, 999, 1000, -1000, most, most - 1, most - 2, -most, 1 - most}
	for range 500 {
		amounts = append(amounts, random.Int64N(2*most+1)-most, random.Int64N(2_000_001)-1_000_000)
	}
	for _, tag := range []string{"es", "es-UY", "es-PY", "es-MX", "en", "en-IN", "pt", "pt-PT"} {
		l := locale(t, tag)
		for currency, places := range map[string]int{"CLP": 0, "UYU": 2, "KWD": 3, "CLF": 4} {
			for _, minor := range amounts {
				money := view.Money{Minor: minor, Currency: currency}
				require.NoError(t, money.Validate())
				text := l.Money(money)
				require.Equal(t, fmt.Sprintf("%0*d", places+1, max(minor, -minor)), digits(text), "%d %s in %s", minor, currency, tag)
				require.Equal(t, minor < 0, strings.Contains(text, "-"), "%d %s in %s: %s", minor, currency, tag, text)
			}
		}
	}
}

func digits(text string) string {
	return strings.Join(strings.FieldsFunc(text, notDigit), "")
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

func TestMoneyThatIsNotToldIsNotWritten(t *testing.T) {
	t.Parallel()
	assert.True(t, view.Money{}.IsZero())
	assert.NoError(t, view.Money{}.Validate())
	assert.Empty(t, view.Locale{}.Money(view.Money{}))
	assert.False(t, view.Money{Currency: "UYU"}.IsZero(), "nothing to pay is an amount")
	assert.False(t, view.Money{Minor: 1}.IsZero())
}

func TestMoneyIsValidated(t *testing.T) {
	t.Parallel()
	for _, currency := range []string{"UYU", "CLF", "VES", "VED", "MRU", "STN", "SLE", "XCG", "ZWG", "UYW", "XOF", "XAF", "XPF", "XCD"} {
		assert.NoError(t, view.Money{Minor: -1 << 53, Currency: currency}.Validate(), currency)
	}
	for _, money := range []view.Money{
		{Minor: 1},
		{Minor: 1, Currency: "uyu"},
		{Minor: 1, Currency: "UY"},
		{Minor: 1, Currency: "UYU "},
		{Minor: 1, Currency: "QQQ"},
		{Minor: 1, Currency: "XXX"},
		{Minor: 1, Currency: "XTS"},
		{Minor: 1, Currency: "XAU"},
		{Minor: 1, Currency: "\x00\x00\x00"},
		{Minor: 1, Currency: strings.Repeat("UYU", 10_000)},
		{Minor: 1<<53 + 1, Currency: "UYU"},
		{Minor: -1<<53 - 1, Currency: "CLP"},
		{Minor: math.MinInt64, Currency: "UYU"},
		{Minor: math.MaxInt64, Currency: "UYU"},
	} {
		err := money.Validate()
		require.ErrorContains(t, err, "view: money: ", "%.20v", money)
		assert.Less(t, len(err.Error()), 100)
		assert.NotPanics(t, func() { view.Locale{}.Money(money) })
	}
}
