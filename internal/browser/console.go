package browser

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// marker is what Problems writes to the console to know where it ends.
const marker = "buzon: end of problems"

// Problems returns what the page has complained of in its console since the
// last call: errors, exceptions that nothing caught, files that could not be
// loaded, and what the Content-Security-Policy forbade. Images that the
// [Screen] does not have are no problem, nor is a missing favicon.ico, which
// Chromium asks for unbidden.
func (p *Page) Problems() []string {
	p.t.Helper()
	Eval[chromedp.Void](p, fmt.Sprintf("console.debug(%q)", marker))
	timer := time.AfterFunc(actionLimit, p.cancel)
	defer timer.Stop()
	var problems []string
	for {
		message, err, ok := p.console()
		if !ok || err != nil {
			p.t.Fatalf("browser: read the console: %v", err)
		}
		if message.Text == marker {
			return problems
		}
		if p.isProblem(message) {
			problems = append(problems, message.Text)
		}
	}
}

func (p *Page) isProblem(m chromedp.ConsoleMessage) bool {
	switch {
	case strings.HasSuffix(m.URL, "/favicon.ico"):
		return false
	case strings.Contains(m.Text, "net::ERR_BLOCKED_BY_CLIENT"):
		return !p.screen.NoImages
	default:
		return slices.Contains([]chromedp.ConsoleType{chromedp.ConsoleError, chromedp.ConsoleException, "assert"}, m.Type)
	}
}
