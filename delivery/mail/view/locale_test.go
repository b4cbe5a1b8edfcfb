package view_test

import (
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

func locale(t testing.TB, tag string) view.Locale {
	t.Helper()
	l, err := view.ParseLocale(tag)
	require.NoError(t, err)
	return l
}

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	location, err := time.LoadLocation(name)
	require.NoError(t, err)
	return location
}

func TestDatesAndTimesAreWrittenAsInTheReadersCountry(t *testing.T) {
	t.Parallel()
	afternoon := time.Date(2026, 9, 17, 15, 4, 59, 0, time.UTC)
	night := time.Date(2026, 9, 17, 0, 5, 0, 0, time.UTC)
	for tag, want := range map[string]struct{ date, afternoon, night string }{
		"es":     {"jueves, 17 de septiembre de 2026", "15:04", "0:05"},
		"es-ES":  {"jueves, 17 de septiembre de 2026", "15:04", "0:05"},
		"es-419": {"jueves, 17 de septiembre de 2026", "15:04", "00:05"},
		"es-UY":  {"jueves, 17 de setiembre de 2026", "15:04", "00:05"},
		"es-PE":  {"jueves, 17 de setiembre de 2026", "15:04", "00:05"},
		"es-AR":  {"jueves, 17 de septiembre de 2026", "15:04", "00:05"},
		"es-MX":  {"jueves, 17 de septiembre de 2026", "15:04", "0:05"},
		"es-CO":  {"jueves, 17 de septiembre de 2026", "3:04 p.\u00a0m.", "12:05 a.\u00a0m."},
		"es-US":  {"jueves, 17 de septiembre de 2026", "3:04 p.\u00a0m.", "12:05 a.\u00a0m."},
		"es-HN":  {"jueves 17 de septiembre de 2026", "15:04", "00:05"},
		"en":     {"Thursday, September 17, 2026", "3:04 pm", "12:05 am"},
		"en-US":  {"Thursday, September 17, 2026", "3:04 pm", "12:05 am"},
		"en-CA":  {"Thursday, September 17, 2026", "3:04 p.m.", "12:05 a.m."},
		"en-GB":  {"Thursday, 17 September 2026", "15:04", "00:05"},
		"en-AU":  {"Thursday, 17 September 2026", "3:04 pm", "12:05 am"},
		"en-DE":  {"Thursday, 17 September 2026", "15:04", "00:05"},
		"pt":     {"quinta-feira, 17 de setembro de 2026", "15:04", "00:05"},
		"pt-BR":  {"quinta-feira, 17 de setembro de 2026", "15:04", "00:05"},
		"pt-PT":  {"quinta-feira, 17 de setembro de 2026", "15:04", "00:05"},
		"pt-AO":  {"quinta-feira, 17 de setembro de 2026", "15:04", "00:05"},
	} {
		l := locale(t, tag)
		assert.Equal(t, want.date, l.Date(afternoon), tag)
		assert.Equal(t, want.afternoon, l.Time(afternoon), tag)
		assert.Equal(t, want.night, l.Time(night), tag)
	}
}

// Every day of a leap year and every minute of a day has a text of its own, in
// every locale with rules of its own and in some without.
func TestNoTwoDaysOrMinutesReadTheSame(t *testing.T) {
	t.Parallel()
	start := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC)
	for tag := range strings.FieldsSeq("en en-001 en-150 en-CA en-GB en-IE en-ZA es es-419 es-CO es-DO es-HN es-MX es-PA es-PE" +
		" es-PH es-PR es-US es-UY es-VE pt pt-PT en-AU es-AR es-BO pt-BR pt-MZ") {
		l := locale(t, tag)
		days, minutes := map[string]bool{}, map[string]bool{}
		for i := range 366 {
			days[l.Date(start.AddDate(0, 0, i))] = true
		}
		for i := range 24 * 60 {
			minutes[l.Time(start.Add(time.Duration(i)*time.Minute))] = true
		}
		assert.Len(t, days, 366, tag)
		assert.Len(t, minutes, 24*60, tag)
	}
}

func TestTheFirstAndTheLastYear(t *testing.T) {
	t.Parallel()
	first, last := time.Time{}, time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)
	assert.Equal(t, "lunes, 1 de enero de 1", view.Locale{}.Date(first))
	assert.Equal(t, "viernes, 31 de diciembre de 9999", view.Locale{}.Date(last))
	assert.Equal(t, "Monday, January 1, 1, 12:00 am (UTC)", locale(t, "en").Moment(first))
	assert.Equal(t, "Friday, 31 December 9999, 23:59 (UTC)", locale(t, "en-GB").Moment(last))
	assert.Equal(t, "sexta-feira, 31 de dezembro de 9999, 23:59 (UTC)", locale(t, "pt").Moment(last))
}

func TestAMomentSaysDateTimeAndZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 19, 18, 4, 0, 0, time.UTC)
	montevideo := at.In(zone(t, "America/Montevideo"))
	assert.Equal(t, "jueves, 19 de marzo de 2026, 15:04 (hora de Montevideo, UTC−3)", view.Locale{}.Moment(montevideo))
	assert.Equal(t, "Thursday, March 19, 2026, 3:04 pm (Montevideo time, UTC−3)", locale(t, "en").Moment(montevideo))
	assert.Equal(t, "quinta-feira, 19 de março de 2026, 15:04 (horário de São Paulo, UTC−3)",
		locale(t, "pt-BR").Moment(at.In(zone(t, "America/Sao_Paulo"))))
	assert.Equal(t, "viernes, 20 de marzo de 2026, 7:04 (hora de Auckland, UTC+13)",
		view.Locale{}.Moment(at.In(zone(t, "Pacific/Auckland"))), "the day is the zone's own")
}

func TestNumbersAreGrouped(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"es":     "-1.234.567",
		"es-UY":  "-1.234.567",
		"es-MX":  "-1,234,567",
		"es-419": "-1,234,567",
		"en":     "-1,234,567",
		"pt":     "-1.234.567",
		"pt-PT":  "-1\u00a0234\u00a0567",
	} {
		assert.Equal(t, want, locale(t, tag).Number(-1234567), tag)
		assert.Equal(t, "0", locale(t, tag).Number(0), tag)
	}
}

func TestParseLocaleKeepsLanguageAndRegion(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"es":                "es",
		"ES":                "es",
		"spa":               "es",
		"es_UY":             "es-UY",
		"eS-uY":             "es-UY",
		"es-Latn-UY":        "es-UY",
		"es-UY-u-nu-arab":   "es-UY",
		"es-x-UY":           "es",
		"es-ZZ":             "es",
		"es-419":            "es-419",
		"en-UK":             "en-GB",
		"en-US-posix":       "en-US",
		"pt-BR-abl1943":     "pt-BR",
		"pt-PT-u-rg-brzzzz": "pt-PT",
	} {
		l := locale(t, tag)
		assert.Equal(t, want, l.Tag(), tag)
		assert.Equal(t, want[:2], l.Language(), tag)
		assert.Equal(t, "ltr", l.Dir(), tag)
	}
	assert.Equal(t, view.Locale{}, locale(t, "es"), "the zero value is Spanish")
	assert.Equal(t, locale(t, "es-UY"), locale(t, "es_uy"))
}

func TestParseLocaleRefuses(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"":                                "is empty",
		"es-":                             "not well-formed",
		"x-":                              "not well-formed",
		"x-es":                            "no date formats",
		"_":                               "not well-formed",
		"*":                               "not well-formed",
		"\x00":                            "not well-formed",
		"es\x00":                          "not well-formed",
		"es_UY.UTF-8":                     "not well-formed",
		"\xff\xfe":                        "not well-formed",
		"zz":                              "unknown",
		"fr":                              `"fr": there are no date formats for it; there are for es, en, pt`,
		"ar":                              "there are for es, en, pt",
		"und":                             "no date formats",
		"und-UY":                          "no date formats",
		"es-Arab":                         "no date formats",
		"en-Shaw-GB":                      "no date formats",
		strings.Repeat("es-", 3334):       "10002 bytes; at most 100",
		"es-x-" + strings.Repeat("a", 96): "101 bytes; at most 100",
	} {
		l, err := view.ParseLocale(tag)
		require.ErrorContains(t, err, want, "%q", tag)
		assert.Less(t, len(err.Error()), 200)
		assert.Equal(t, view.Locale{}, l)
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		available, preferred string // separated by spaces
		language, tag        string
	}{
		{"es en pt", "", "es", "es"},
		{"en es", "", "en", "en"},
		{"es en pt", "es-UY", "es", "es-UY"},
		{"es en pt", "es_UY", "es", "es-UY"},
		{"es en pt", "es es-UY", "es", "es-UY"},
		{"es en pt", "es-AR es-UY", "es", "es-AR"},
		{"es en pt", "es pt-BR es-UY", "es", "es-UY"},
		{"es en pt", "pt es-UY", "pt", "pt"},
		{"es en pt", "pt-BR", "pt", "pt-BR"},
		{"es en pt", "gl", "es", "es"},
		{"es en pt", "gl-ES", "es", "es"},
		{"en es pt", "eu-FR en", "es", "es"},
		{"es en pt", "cy-GB", "en", "en"},
		{"es en pt", "fr", "es", "es"},
		{"en es pt", "fr-CA ar", "en", "en"},
		{"es en pt", "fr en-GB es", "en", "en-GB"},
		{"es en pt", "pt es", "pt", "pt"},
		{"es en pt", "es- en", "en", "en"},
		{"es en pt", "zz * x- pt-PT", "pt", "pt-PT"},
		{"es en pt", "und", "es", "es"},
		{"es en pt", "es-Arab en", "en", "en"},
		{"es-UY en-US", "es", "es-UY", "es-UY"},
		{"es-UY en-US", "es-AR", "es-UY", "es-AR"},
		{"en-US es-MX es-ES", "es-AR", "es-MX", "es-AR"},
		{"pt_BR", "pt-PT", "pt_BR", "pt-PT"},
		{"en-US en-GB", "en-AU", "en-GB", "en-AU"},
		{"fr layout es", "fr", "es", "es"},
		{"fr layout", "es", "", "es"},
		{"", "es-UY", "", "es"},
	} {
		language, l := view.Match(strings.Fields(test.available), strings.Fields(test.preferred)...)
		assert.Equal(t, test.language, language, "%+v", test)
		assert.Equal(t, test.tag, l.Tag(), "%+v", test)
	}
	language, _ := view.Match([]string{"es", "en"}, "", "\x00", strings.Repeat("en-", 5000), "en")
	assert.Equal(t, "en", language)
}

// Under the race detector, this shows that what is shared is shared safely.
func TestLocalesAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 19, 18, 4, 0, 0, time.UTC)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, tag := range []string{"es-VE", "en-IE", "pt-MZ"} {
				l, err := view.ParseLocale(tag)
				assert.NoError(t, err)
				assert.Contains(t, l.Moment(at), "2026")
				assert.Contains(t, l.Money(view.Money{Minor: 500, Currency: "USD"}), "5")
				_, matched := view.Match([]string{"es", "en", "pt"}, tag)
				assert.Equal(t, l, matched)
			}
		})
	}
	all.Wait()
}

// Whatever the tag, reading it gives an error or a locale that writes all there
// is to write, and that its own tag gives again.
func FuzzParseLocale(f *testing.F) {
	for _, tag := range []string{"", "es", "es_UY", "en-u-rg-uyzzzz", "i-default", "x-", "es-\x00", "sgn-BE-FR", "pt-Latn-TL-1990"} {
		f.Add(tag, int64(-1234567), "UYU")
	}
	at := time.Date(2026, 3, 19, 18, 4, 0, 0, time.FixedZone("America/Asuncion", -3*60*60))
	f.Fuzz(func(t *testing.T, tag string, minor int64, currency string) {
		l, err := view.ParseLocale(tag)
		if err != nil {
			require.Less(t, len(err.Error()), 1000)
			return
		}
		again, err := view.ParseLocale(l.Tag())
		require.NoError(t, err)
		require.Equal(t, l, again)
		for _, text := range []string{l.Moment(at), l.Number(int(minor)), l.Language()} {
			require.NotEmpty(t, text)
			require.True(t, utf8.ValidString(text))
		}
		_ = l.Money(view.Money{Minor: minor, Currency: currency})
	})
}

// Whatever is asked for, what is found is among what is available.
func FuzzMatch(f *testing.F) {
	f.Add("es", "en", "gl", "pt-BR")
	f.Add("es-UY", "!", "", "x-")
	f.Add("", "und", "und", "mul")
	f.Fuzz(func(t *testing.T, a, b, c, d string) {
		language, l := view.Match([]string{a, b}, c, d)
		if language == "" {
			require.Equal(t, view.Locale{}, l)
			return
		}
		require.Contains(t, []string{a, b}, language)
		require.Equal(t, locale(t, language).Language(), l.Language())
	})
}

func BenchmarkMoment(b *testing.B) {
	l, at := locale(b, "es-UY"), time.Now().In(zone(b, "America/Montevideo"))
	for b.Loop() {
		l.Moment(at)
	}
}

func BenchmarkMoney(b *testing.B) {
	l := locale(b, "es-UY")
	for b.Loop() {
		l.Money(view.Money{Minor: 123450, Currency: "UYU"})
	}
}

func BenchmarkMatch(b *testing.B) {
	for b.Loop() {
		view.Match([]string{"es", "en", "pt"}, "es-UY")
	}
}
