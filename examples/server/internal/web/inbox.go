package web

import (
	"net/http"
	"slices"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

// inboxPage lists the e-mails that the sink took.
type inboxPage struct {
	Real     bool // e-mails go out for real, and are not here
	Messages []smtptest.Message
}

func (s *site) inbox(w http.ResponseWriter, r *http.Request) error {
	page := inboxPage{Real: s.Sink == nil}
	if s.Sink != nil {
		page.Messages = s.Sink.Messages()
		slices.Reverse(page.Messages) // the newest first
	}
	return s.show(w, r, http.StatusOK, "inbox", page)
}
