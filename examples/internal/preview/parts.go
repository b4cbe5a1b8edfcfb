package preview

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
)

// locked is the policy of a document that may do nothing. The frames of our own
// pages may show it.
const locked = "sandbox; default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

const typeText = "text/plain; charset=utf-8"

// document is the HTML of an e-mail by itself.
func (s *site) document(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.asked(r)
	if err != nil {
		return err
	}
	images := "'none'"
	if !asked.choice.NoImages {
		images = imageSources(asked.brand)
	}
	w.Header().Set("Content-Security-Policy", locked+"; style-src 'unsafe-inline'; img-src "+images)
	return write(w, "text/html; charset=utf-8", []byte(asked.Message.HTML))
}

// imageSources are the sites of a brand's logos, from which its e-mails may
// load images. A host name that would end the directive is none.
func imageSources(brand Brand) string {
	sources := []string{"data:"}
	for _, identity := range brand.identities() {
		u, err := url.Parse(identity.LogoURL)
		if err == nil && u.Host != "" && !strings.ContainsAny(u.Host, ";,'*") {
			sources = append(sources, u.Scheme+"://"+u.Host)
		}
	}
	return strings.Join(sources, " ")
}

func (s *site) text(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.asked(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", locked)
	return write(w, typeText, []byte(asked.Message.Text))
}

// source is the e-mail as it would be transmitted.
func (s *site) source(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.asked(r)
	if err != nil {
		return err
	}
	source, err := smtp.Compose(&asked.Message)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Security-Policy", locked)
	return write(w, typeText, source)
}

// attachment is a file of an e-mail. A PDF is shown, since browsers lock it in;
// anything else is only to be saved.
func (s *site) attachment(w http.ResponseWriter, r *http.Request) error {
	asked, err := s.asked(r)
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(r.PathValue("i"))
	if err != nil || i < 1 || i > len(asked.Message.Attachments) {
		return errNoPage
	}
	file := asked.Message.Attachments[i-1]
	disposition, contentType := "attachment", "application/octet-stream"
	if isPDF(file) {
		disposition, contentType = "inline", typePDF
	}
	w.Header().Set("Content-Disposition", mime.FormatMediaType(disposition, map[string]string{"filename": file.Name}))
	return write(w, contentType, file.Content)
}

const typePDF = "application/pdf"

func isPDF(file mail.Attachment) bool {
	return file.ContentType == typePDF && bytes.HasPrefix(file.Content, []byte("%PDF-"))
}

func write(w http.ResponseWriter, contentType string, content []byte) error {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	_, _ = w.Write(content) // A browser that went away is no fault of the page.
	return nil
}
