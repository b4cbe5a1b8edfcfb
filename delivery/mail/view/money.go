package view

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/currency"
	"golang.org/x/text/number"
)

// Money is an amount in its currency's minor unit, with as many decimals as
// ISO 4217 gives the currency: 123450 of UYU is 1.234,50, of CLP 123.450. The
// zero value means that no amount is told; an amount of nothing has a currency.
type Money struct {
	Minor    int64
	Currency string // ISO 4217: "UYU"
}

// maxMinor is the largest amount either way: beyond 2⁵³, programs that keep the
// numbers of JSON as floating point lose units (RFC 8259 section 6).
const maxMinor = 1 << 53

// IsZero reports that no amount is told.
func (m Money) IsZero() bool { return m == Money{} }

// Validate refuses a currency that ISO 4217 does not have or that has no minor
// unit, such as gold, and an amount beyond 2⁵³ minor units either way. The zero
// value is valid.
func (m Money) Validate() error {
	switch {
	case m.IsZero():
		return nil
	case !isCurrency(m.Currency):
		return fmt.Errorf("view: money: %.10q is no currency of ISO 4217", m.Currency)
	case m.Minor > maxMinor || m.Minor < -maxMinor:
		return fmt.Errorf("view: money: %d of %s is more than 2^53 minor units", m.Minor, m.Currency)
	}
	return nil
}

func isCurrency(code string) bool {
	switch code {
	case "MRU", "SLE", "UYW", "VED", "VES", "XCG", "ZWG": // younger than the tables of golang.org/x/text
		return true
	case "XAG", "XAU", "XBA", "XBB", "XBC", "XBD", "XDR", "XPD", "XPT", "XSU", "XTS", "XUA", "XXX": // no minor unit
		return false
	}
	unit, err := currency.ParseISO(code)
	return err == nil && unit.String() == code
}

// decimals returns how many digits of an amount are a currency's minor unit
// (ISO 4217). The CLDR, and so golang.org/x/text, says how many are customary
// instead: none in COP, whose minor unit is a hundredth all the same.
func decimals(code string) int {
	switch code {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG",
		"RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	case "CLF", "UYW":
		return 4
	}
	return 2
}

// Money writes an amount with its currency's symbol, to the minor unit:
// "1.234,50 UYU" in Spanish, "$ 1.234,50" in Uruguay, "-$1,234.50" in the United
// States. A zero [Money] is the empty string. The amount must be valid.
func (l Locale) Money(m Money) string {
	if m.IsZero() {
		return ""
	}
	pattern, negative, explicit := strings.Cut(nearest(l, patterns), ";")
	switch {
	case m.Minor < 0 && explicit:
		pattern = negative
	case m.Minor < 0:
		pattern = "-" + pattern
	}
	return fill(pattern, l.symbol(m.Currency), l.amount(m))
}

// amount writes an amount without its sign. Whole units and the rest are
// written apart, as floating point cannot hold every amount: near 2⁵³ of a
// hundredth, its steps are of more than one hundredth.
func (l Locale) amount(m Money) string {
	minor := m.Minor
	if minor < 0 {
		minor = -minor
	}
	places, unit := decimals(m.Currency), int64(1)
	for range places {
		unit *= 10
	}
	written := l.printer().Sprint(number.Decimal(minor / unit))
	if places == 0 {
		return written
	}
	rest := number.Decimal(float64(minor%unit)/float64(unit), number.Scale(places))
	return written + strings.TrimPrefix(l.printer().Sprint(rest), "0")
}

// symbol returns how the locale's readers write a currency: "$", "US$", "UYU".
func (l Locale) symbol(code string) string {
	unit, err := currency.ParseISO(code)
	if err != nil {
		return code
	}
	return l.printer().Sprint(currency.Symbol(unit))
}

// fill puts symbol and amount into a pattern. A symbol that is a word, such as
// a code, is kept apart from the digits beside it (currencySpacing of
// UTS #35 part 3).
func fill(pattern, symbol, amount string) string {
	last, _ := utf8.DecodeLastRuneInString(symbol)
	if strings.Contains(pattern, "¤#") && !unicode.IsSymbol(last) {
		symbol += "\u00a0"
	}
	return strings.NewReplacer("¤", symbol, "#,##0.00", amount).Replace(pattern)
}

// patterns are the CLDR's standard currency formats (release 48), the one for
// negative amounts after a semicolon where it is not the first with a sign
// before it. golang.org/x/text does not have them: its own currency formats
// write "UYU -5" in every language.
var patterns = map[string]string{
	"en":     "¤#,##0.00",
	"en-150": "#,##0.00\u00a0¤",
	"es":     "#,##0.00\u00a0¤",
	"es-419": "¤#,##0.00",
	"es-AR":  "¤\u00a0#,##0.00",
	"es-CL":  "¤#,##0.00;¤-#,##0.00",
	"es-CO":  "¤\u00a0#,##0.00",
	"es-EC":  "¤#,##0.00;¤-#,##0.00",
	"es-GQ":  "¤#,##0.00",
	"es-PE":  "¤\u00a0#,##0.00",
	"es-PY":  "¤\u00a0#,##0.00;¤\u00a0-#,##0.00",
	"es-UY":  "¤\u00a0#,##0.00",
	"es-VE":  "¤#,##0.00;¤-#,##0.00",
	"pt":     "¤\u00a0#,##0.00",
	"pt-PT":  "#,##0.00\u00a0¤",
}
