package preview

import (
	"errors"
	"net/http"
	"strings"
)

// faultPage says what went wrong.
type faultPage struct {
	Title  string
	Text   string
	Faults []string // in the words of whoever found them
}

// fail shows an error as a page. There are no strangers here to keep it from.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	status, page := http.StatusInternalServerError, faultPage{
		Title:  "Hay algo mal en las plantillas",
		Text:   "Al corregirlo, basta con volver a cargar esta página.",
		Faults: strings.Split(err.Error(), "\n"),
	}
	if errors.Is(err, errNoPage) {
		status, page = http.StatusNotFound, faultPage{Title: "Esa página no existe", Text: "No hay un mensaje con esa dirección."}
	}
	if err := s.show(w, r, status, "error", page); err != nil {
		http.Error(w, page.Title, status)
	}
}
