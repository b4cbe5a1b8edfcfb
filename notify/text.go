package notify

import (
	"regexp"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// linkPattern matches what mail programs turn into a link by themselves, and
// lets "J.Perez" and "MA.ELENA" pass.
var linkPattern = regexp.MustCompile(`(?i:://|www\.|@|\.(?:com|net|org|info)\b)|[\p{L}\p{N}]\.[a-z]{2,}(?:[\s/:?#]|$)`)

// personName returns how to address a user, or "" for without a name. A name
// that holds a link is somebody's advertisement.
func personName(name string) string {
	name = view.OneLine(name, view.MaxName)
	if linkPattern.MatchString(name) {
		return ""
	}
	return name
}
