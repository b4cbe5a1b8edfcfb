package diagnosis

import (
	"regexp"
	"strings"
	"unicode"
)

// maxQuote is how many characters of a server's words are kept.
const maxQuote = 200

// leftOut stands for what is not to be shown, in any language.
const leftOut = "…"

var (
	// urlQuery finds what follows the path of a URL: Gmail puts tokens there,
	// others the recipient.
	urlQuery = regexp.MustCompile(`(?i)(https?://[^\s<>"?#;]*)[?#;][^\s<>"]*`)
	// address finds e-mail addresses, also those with a quoted local part, in
	// the path of a URL, or cut at their end.
	address = regexp.MustCompile(`(?i)(?:"[^"]*"|[^\s<>"(),;:]+)(?:@|%40)(?:\[[^\s\]]*\]|[^\s<>"(),;:]*)`)
	// inBrackets finds the local part that some servers repeat alone.
	inBrackets = regexp.MustCompile(`<[^\s<>:/]*(?:>|$)`)
	// token finds base64, which servers repeat of a login.
	token = regexp.MustCompile(`[A-Za-z0-9+/]{16,}={0,2}`)
)

// quote makes a server's text fit to be shown between quotation marks: one
// short line, without e-mail addresses and secrets.
func quote(text string) string {
	text = urlQuery.ReplaceAllString(visible(text), "$1")
	text = address.ReplaceAllString(text, leftOut)
	text = inBrackets.ReplaceAllString(text, leftOut)
	return shorten(strings.Trim(strings.Join(strings.Fields(text), " "), ` "`))
}

// visible leaves out what has an effect and no shape, and quotation marks that
// would end the quotation.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r): // among them those that turn the direction of text
			return -1
		case strings.ContainsRune("«»“”", r):
			return '"'
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

func shorten(text string) string {
	runes := []rune(text)
	if len(runes) <= maxQuote {
		return text
	}
	return strings.TrimSpace(string(runes[:maxQuote-1])) + leftOut
}

// withoutTokens takes out what looks like base64 rather than like a word.
func withoutTokens(text string) string {
	return token.ReplaceAllStringFunc(text, func(found string) string {
		if strings.ContainsAny(found, "0123456789+/=") {
			return leftOut
		}
		return found
	})
}
