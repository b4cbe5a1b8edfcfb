package view

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/go-playground/locales"
	"github.com/go-playground/locales/en"
	"github.com/go-playground/locales/en_001"
	"github.com/go-playground/locales/en_150"
	"github.com/go-playground/locales/en_CA"
	"github.com/go-playground/locales/en_GB"
	"github.com/go-playground/locales/en_IE"
	"github.com/go-playground/locales/en_ZA"
	"github.com/go-playground/locales/es"
	"github.com/go-playground/locales/es_419"
	"github.com/go-playground/locales/es_CO"
	"github.com/go-playground/locales/es_DO"
	"github.com/go-playground/locales/es_HN"
	"github.com/go-playground/locales/es_MX"
	"github.com/go-playground/locales/es_PA"
	"github.com/go-playground/locales/es_PE"
	"github.com/go-playground/locales/es_PH"
	"github.com/go-playground/locales/es_PR"
	"github.com/go-playground/locales/es_US"
	"github.com/go-playground/locales/es_UY"
	"github.com/go-playground/locales/es_VE"
	"github.com/go-playground/locales/pt"
	"github.com/go-playground/locales/pt_PT"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/number"
)

// A Locale is how the reader of an e-mail writes dates, times and amounts: a
// language, and perhaps a region ("es-UY"). The zero value is Spanish. Locales
// are compared by ==, whatever the spelling they were read from.
//
// The rules are those of the Unicode CLDR, whatever the machine's own settings
// are. A region without rules of its own writes as its CLDR parent does: "es-BO"
// as "es-419", the Spanish of Latin America. White space within an amount, a
// time or a number is U+00A0 where the CLDR says so, so that lines do not break
// there.
type Locale struct {
	tag string // "" for "es"
}

const spanish = "es"

// languages are those with formats here.
var languages = []string{spanish, "en", "pt"}

// maxTag is how long a language tag may be, in bytes: room for more than the 35
// that RFC 5646 section 4.4.1 asks for.
const maxTag = 100

// ParseLocale reads a language tag (BCP 47; an underscore serves as well), such
// as "es", "es-UY" or "pt_BR". Beyond language and region nothing is kept of it.
// A language that dates are not written in here, or a script other than Latin,
// is an error.
func ParseLocale(tag string) (Locale, error) {
	parsed, err := parseTag(tag)
	if err != nil {
		return Locale{}, fmt.Errorf("view: locale: %w", err)
	}
	locale, ok := localeOf(parsed)
	if !ok {
		return Locale{}, fmt.Errorf("view: locale %q: there are no date formats for it; there are for %s",
			tag, strings.Join(languages, ", "))
	}
	return locale, nil
}

func parseTag(tag string) (language.Tag, error) {
	switch {
	case tag == "":
		return language.Und, errors.New("the language tag is empty")
	case len(tag) > maxTag:
		return language.Und, fmt.Errorf("the language tag has %d bytes; at most %d are allowed", len(tag), maxTag)
	}
	parsed, err := language.Parse(tag)
	if err != nil {
		return language.Und, fmt.Errorf("%q: %w", tag, err)
	}
	return parsed, nil
}

// localeOf reports false for a language or script without formats here. "Zzzz"
// and "ZZ" stand for a script and a region that are not told.
func localeOf(tag language.Tag) (Locale, bool) {
	base, script, region := tag.Raw()
	_, known := dates[base.String()]
	if !known || script.String() != "Zzzz" && script.String() != "Latn" {
		return Locale{}, false
	}
	locale := Locale{tag: base.String()}
	if region := region.String(); region != "ZZ" {
		locale.tag += "-" + region
	}
	if locale.tag == spanish {
		return Locale{}, true
	}
	return locale, true
}

// Match returns the language, of those available, that suits a reader, and how
// to write dates and amounts in it. The first preferred tag that suits any
// decides, closeness being the CLDR's: "pt-BR" suits "pt", "gl" suits "es", "fr"
// suits neither. Where none does, it is the first available. Preferred tags that
// are empty or malformed are passed over.
//
// The locale has the region of the first of these tags, from the one that decides
// on, whose language is the same and that has one: "es-UY" for a reader of
// "es-UY" who gets "es", and for one of "es" whose tenant has "es-UY". Otherwise
// it is the language's own.
//
// What is available and cannot be read by [ParseLocale] is passed over as well;
// with nothing left, the language is empty and the locale Spanish.
func Match(available []string, preferred ...string) (string, Locale) {
	var names []string
	var own []Locale
	var tags []language.Tag
	for _, name := range available {
		if locale, err := ParseLocale(name); err == nil {
			names, own = append(names, name), append(own, locale)
			tags = append(tags, language.Make(locale.Tag()))
		}
	}
	if len(names) == 0 {
		return "", Locale{}
	}
	matcher := language.NewMatcher(tags)
	for n, tag := range preferred {
		wanted, err := parseTag(tag)
		if err != nil {
			continue
		}
		if _, i, confidence := matcher.Match(wanted); confidence > language.No {
			return names[i], own[i].inRegionOf(preferred[n:])
		}
	}
	return names[0], own[0]
}

// inRegionOf returns the locale as it is where the first of the tags is that has
// a region and the same language.
func (l Locale) inRegionOf(tags []string) Locale {
	for _, tag := range tags {
		if there, err := ParseLocale(tag); err == nil && there.Language() == l.Language() && there.Tag() != there.Language() {
			return there
		}
	}
	return l
}

// Tag returns the language tag, such as "es-UY" or "pt".
func (l Locale) Tag() string {
	if l.tag == "" {
		return spanish
	}
	return l.tag
}

// Language returns the language alone: "es" for "es-UY".
func (l Locale) Language() string {
	base, _, _ := strings.Cut(l.Tag(), "-")
	return base
}

// Dir returns the direction of the language's script for the HTML attribute:
// "ltr", since every language with formats here is written in Latin letters.
func (l Locale) Dir() string { return "ltr" }

// Date writes the day in t's own zone, in full: "jueves, 19 de marzo de 2026".
func (l Locale) Date(t time.Time) string { return nearest(l, dates)().FmtDateFull(t) }

// Time writes the time of day in t's own zone, to the minute: "15:04" or, where
// the CLDR has it so, "3:04 p. m.".
func (l Locale) Time(t time.Time) string { return nearest(l, dates)().FmtTimeShort(t) }

// Moment writes the day, the time and the zone in one phrase: "jueves, 19 de
// marzo de 2026, 15:04 (hora de Montevideo, UTC−3)".
func (l Locale) Moment(t time.Time) string {
	return fmt.Sprintf("%s, %s (%s)", l.Date(t), l.Time(t), l.Zone(t))
}

// Number writes a whole number, grouped: "1.234.567".
func (l Locale) Number(n int) string { return l.printer().Sprint(number.Decimal(n)) }

// printer costs a microsecond to make, which is not worth sharing.
func (l Locale) printer() *message.Printer { return message.NewPrinter(language.Make(l.Tag())) }

// dates holds, for each language and for the regions that differ from their
// parent, how dates and times are written. Each is made at its first use.
var dates = map[string]func() locales.Translator{
	"en":     sync.OnceValue(en.New),
	"en-001": sync.OnceValue(en_001.New),
	"en-150": sync.OnceValue(en_150.New),
	"en-CA":  sync.OnceValue(en_CA.New),
	"en-GB":  sync.OnceValue(en_GB.New),
	"en-IE":  sync.OnceValue(en_IE.New),
	"en-ZA":  sync.OnceValue(en_ZA.New),
	"es":     sync.OnceValue(es.New),
	"es-419": sync.OnceValue(es_419.New),
	"es-CO":  sync.OnceValue(es_CO.New),
	"es-DO":  sync.OnceValue(es_DO.New),
	"es-HN":  sync.OnceValue(es_HN.New),
	"es-MX":  sync.OnceValue(es_MX.New),
	"es-PA":  sync.OnceValue(es_PA.New),
	"es-PE":  sync.OnceValue(es_PE.New),
	"es-PH":  sync.OnceValue(es_PH.New),
	"es-PR":  sync.OnceValue(es_PR.New),
	"es-US":  sync.OnceValue(es_US.New),
	"es-UY":  sync.OnceValue(es_UY.New),
	"es-VE":  sync.OnceValue(es_VE.New),
	"pt":     sync.OnceValue(pt.New),
	"pt-PT":  sync.OnceValue(pt_PT.New),
}

// lineage returns the locale's tag and then its CLDR parents, which tell what
// it does not tell itself: "es-UY", "es-419", "es".
func (l Locale) lineage() []string {
	var tags []string
	for tag := language.Make(l.Tag()); !tag.IsRoot(); tag = tag.Parent() {
		tags = append(tags, tag.String())
	}
	return tags
}

// nearest returns what a table, which holds every language, has for the first
// of the locale's lineage that it knows.
func nearest[T any](l Locale, table map[string]T) (value T) {
	for _, tag := range l.lineage() {
		if value, ok := table[tag]; ok {
			return value
		}
	}
	return value
}
