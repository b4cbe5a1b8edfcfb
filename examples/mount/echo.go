package mount

import (
	"net/http"

	"github.com/labstack/echo/v5"
)

// Echo mounts the handler that httpapi.New returns under /api.
func Echo(lotes http.Handler) http.Handler {
	router := echo.New()
	router.Any("/api/*", echo.WrapHandler(http.StripPrefix("/api", lotes)))
	return router
}
