package web

import (
	"bytes"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/buzon-go/buzon/delivery/smtptest"
)

// attachment is a file of an e-mail. A PDF is shown, since browsers lock it in;
// anything else, which would have the rights of these pages, is only to be
// saved.
func (s *site) attachment(w http.ResponseWriter, r *http.Request) error {
	_, parsed, err := s.received(r)
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(r.PathValue("i"))
	if err != nil || i < 1 || i > len(parsed.Attachments) {
		return errNoPage
	}
	file := parsed.Attachments[i-1]
	if !isPDF(file) {
		return serveFile(w, r, "attachment", file.Name, "application/octet-stream", file.Content)
	}
	return serveFile(w, r, "inline", file.Name, typePDF, file.Content)
}

const typePDF = "application/pdf"

func isPDF(file smtptest.Attachment) bool {
	return file.ContentType == typePDF && bytes.HasPrefix(file.Content, []byte("%PDF-"))
}

// serveFile answers with a file; disposition is inline or attachment.
func serveFile(w http.ResponseWriter, r *http.Request, disposition, name, contentType string, content []byte) error {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": name}))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	return nil
}
