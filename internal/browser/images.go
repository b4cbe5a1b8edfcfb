package browser

import (
	"github.com/chromedp/cdproto/fetch"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// blockImages refuses each image that the page asks for, until the tab is
// closed.
func (p *Page) blockImages() {
	p.t.Helper()
	requests := chromedp.Events(p.ctx, fetch.RequestPaused)
	p.blocker.Go(func() {
		for request, err := range requests {
			if err != nil {
				return
			}
			// An error means that the request has gone with its page.
			_, _ = chromedp.Call(p.ctx, fetch.FailRequest, fetch.FailRequestParams{
				RequestID: request.RequestID, ErrorReason: network.ErrorReasonBlockedByClient,
			})
		}
	})
	call(p, "block images", fetch.Enable, fetch.EnableParams{
		Patterns: []*fetch.RequestPattern{{ResourceType: network.ResourceTypeImage}},
	})
}
