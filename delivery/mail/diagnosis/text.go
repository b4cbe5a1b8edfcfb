package diagnosis

import (
	"strconv"
	"strings"
)

// Text returns sentences on what happened and what to do about it, and behind
// them what the server said, if it said anything. It ends with a full stop.
//
// language is a BCP 47 tag, of which the language counts and the region does
// not: "es", "en" or "pt". Any other, and none, is Spanish.
func (d Diagnosis) Text(language string) string {
	explanation, ok := explanations[d.Cause]
	if !ok {
		explanation = explanations[Other]
	}
	text := explanation.in(language)
	if said := d.said(); said != nil {
		code := strings.TrimSpace(codeText(d.Code) + " " + d.Enhanced)
		text += " " + strings.NewReplacer("WORDS", d.Server, "CODE", code).Replace(said.in(language))
	}
	return text
}

// said returns how to report what the server said; nil for nothing.
func (d Diagnosis) said() *sentences {
	hasCode := d.Code != 0 || d.Enhanced != ""
	switch {
	case d.Server != "" && hasCode:
		return &saidWithCode
	case d.Server != "":
		return &saidWithoutCode
	case hasCode:
		return &saidNothing
	}
	return nil
}

func codeText(code int) string {
	if code == 0 {
		return ""
	}
	return strconv.Itoa(code)
}

// sentences say one thing in each language.
type sentences struct{ es, en, pt string }

func (s sentences) in(language string) string {
	language, _, _ = strings.Cut(strings.ReplaceAll(language, "_", "-"), "-")
	switch strings.ToLower(language) {
	case "en":
		return s.en
	case "pt":
		return s.pt
	}
	return s.es
}
