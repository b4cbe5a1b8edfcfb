package mount

import (
	"net/http"

	"github.com/go-chi/chi/v5"
)

// Chi mounts the handler that httpapi.New returns under /api.
func Chi(lotes http.Handler) http.Handler {
	router := chi.NewRouter()
	router.Mount("/api", http.StripPrefix("/api", lotes))
	return router
}
