package mount

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

// Gin mounts the handler that httpapi.New returns under /api.
func Gin(lotes http.Handler) http.Handler {
	router := gin.New()
	router.Any("/api/*path", gin.WrapH(http.StripPrefix("/api", lotes)))
	return router
}
