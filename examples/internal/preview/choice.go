package preview

import (
	"net/url"
	"slices"
	"strconv"
)

// A choice is how the e-mails are shown, as the query of an address says it.
type choice struct {
	Language string
	Width    int // in CSS pixels, one of widths
	Dark     bool
	NoImages bool
}

// widths are those of a telephone and a desktop's reading pane. The first is
// the default.
var widths = []int{375, 800}

// choiceOf reads a query. What is not there has its default; what there is not
// to choose is no page.
func choiceOf(query url.Values, languages []string) (choice, error) {
	c := choice{Language: languages[0], Width: widths[0]}
	ok := true
	for name, values := range query {
		value := values[0]
		switch name {
		case "idioma":
			c.Language = value
			ok = ok && slices.Contains(languages, value)
		case "ancho":
			c.Width, _ = strconv.Atoi(value) // What is no number is none of the widths.
			ok = ok && slices.Contains(widths, c.Width)
		case "colores":
			c.Dark = true
			ok = ok && value == "oscuros"
		case "imagenes":
			c.NoImages = true
			ok = ok && value == "no"
		}
	}
	if !ok {
		return choice{}, errNoPage
	}
	return c, nil
}

// Query writes the choice; it begins with "?".
func (c choice) Query() string {
	query := url.Values{"idioma": {c.Language}}
	if c.Width != widths[0] {
		query.Set("ancho", strconv.Itoa(c.Width))
	}
	if c.Dark {
		query.Set("colores", "oscuros")
	}
	if c.NoImages {
		query.Set("imagenes", "no")
	}
	return "?" + query.Encode()
}

// Class names the size and the colours of a frame to the style sheet.
func (c choice) Class() string {
	class := "w" + strconv.Itoa(c.Width)
	if c.Dark {
		return class + " dark"
	}
	return class + " light"
}

// A group is what can be chosen of one kind.
type group struct {
	Name    string
	Options []option
}

// An option is a link to the same page, otherwise shown.
type option struct {
	Text    string
	Query   string
	Current bool
}

func (c choice) languages(all []string) group {
	g := group{Name: "Idioma"}
	for _, language := range all {
		g.add(languageName(language), c, func(other *choice) { other.Language = language })
	}
	return g
}

func (c choice) looks() []group {
	size, colors, images := group{Name: "Ancho"}, group{Name: "Colores"}, group{Name: "Imágenes"}
	size.add("Teléfono (375)", c, func(other *choice) { other.Width = widths[0] })
	size.add("Escritorio (800)", c, func(other *choice) { other.Width = widths[1] })
	colors.add("Claros", c, func(other *choice) { other.Dark = false })
	colors.add("Oscuros", c, func(other *choice) { other.Dark = true })
	images.add("Sí", c, func(other *choice) { other.NoImages = false })
	images.add("No", c, func(other *choice) { other.NoImages = true })
	return []group{size, colors, images}
}

func (g *group) add(text string, now choice, change func(*choice)) {
	other := now
	change(&other)
	g.Options = append(g.Options, option{Text: text, Query: other.Query(), Current: other == now})
}

var languageNames = map[string]string{"es": "Español", "en": "English", "pt": "Português"}

// languageName returns the name of a language in the language itself; of one
// that a host added, its tag.
func languageName(tag string) string {
	if name, ok := languageNames[tag]; ok {
		return name
	}
	return tag
}
