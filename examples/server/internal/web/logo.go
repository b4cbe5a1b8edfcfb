package web

import (
	"bytes"
	"net/http"
	"time"

	"github.com/buzon-go/buzon/examples/server/internal/host"
)

// logo is a brand's logo, for e-mails and their previews.
func (s *site) logo(w http.ResponseWriter, r *http.Request) error {
	file := host.Logo(r.PathValue("name"))
	if file == nil {
		return errNoPage
	}
	w.Header().Set("Content-Type", "image/png")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(file))
	return nil
}
