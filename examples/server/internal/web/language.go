package web

// A language that e-mails can be read in.
type language struct {
	Tag  string // BCP 47
	Name string // in the language itself
}

// languages are those of the library's views. The first is the one that forms
// propose.
var languages = []language{{"es", "Español"}, {"en", "English"}, {"pt", "Português"}}

// languageName returns the name of a language; of none, what it stands for.
func languageName(tag string) string {
	for _, known := range languages {
		if known.Tag == tag {
			return known.Name
		}
	}
	return "el del sitio"
}
