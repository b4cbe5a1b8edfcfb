package web

import (
	"fmt"
	"io"
	"net/http"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

// messagePage shows one e-mail.
type messagePage struct {
	smtptest.Message
	Parsed smtptest.Parsed
	Sender string // header From, decoded
	Files  []attachedFile
	Source string
}

// An attachedFile is an attachment as the page of its e-mail lists it.
type attachedFile struct {
	smtptest.Attachment
	Path string
}

// Opens reports whether a browser shows the file, and does not only save it.
func (f attachedFile) Opens() bool { return isPDF(f.Attachment) }

func (s *site) message(w http.ResponseWriter, r *http.Request) error {
	message, parsed, err := s.received(r)
	if err != nil {
		return err
	}
	page := messagePage{Message: message, Parsed: parsed, Source: string(message.Data)}
	if from, err := parsed.Header.AddressList("From"); err == nil && len(from) > 0 {
		page.Sender = from[0].Name + " <" + from[0].Address + ">"
	}
	for i, file := range parsed.Attachments {
		page.Files = append(page.Files, attachedFile{file, fmt.Sprintf("/inbox/%d/adjuntos/%d", message.Number, i+1)})
	}
	return s.show(w, r, http.StatusOK, "message", page)
}

// messagePolicy locks a foreign page in: no script, no form, and nothing that
// is loaded from elsewhere, such as a picture that tells when it was looked at.
// The logos, which are our own, are shown.
func (s *site) messagePolicy() string {
	return "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data: " + s.URL + "logos/; base-uri 'none'; frame-ancestors 'self'"
}

// messageHTML is the e-mail's HTML by itself, for the frame of its page.
func (s *site) messageHTML(w http.ResponseWriter, r *http.Request) error {
	_, parsed, err := s.received(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", s.messagePolicy())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, parsed.HTML)
	return nil
}

// messageSource is the e-mail as it was transmitted.
func (s *site) messageSource(w http.ResponseWriter, r *http.Request) error {
	message, _, err := s.received(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write(message.Data)
	return nil
}

// received returns the e-mail with the path's number.
func (s *site) received(r *http.Request) (smtptest.Message, smtptest.Parsed, error) {
	n, err := pathID(r, "n")
	if err != nil || s.Sink == nil {
		return smtptest.Message{}, smtptest.Parsed{}, errNoPage
	}
	message, ok := s.Sink.Message(int(n))
	if !ok {
		return smtptest.Message{}, smtptest.Parsed{}, errNoPage
	}
	parsed, err := message.Parse()
	return message, parsed, err
}
