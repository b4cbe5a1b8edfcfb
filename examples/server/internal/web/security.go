package web

import "net/http"

// maxForm is more than any form of these pages can need.
const maxForm = 64 << 10

// protect puts in front of all pages what none of them may forget: forms of
// other sites are refused, large bodies are cut, and browsers are told to guess
// nothing.
func (s *site) protect(pages http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection()
	crossOrigin.SetDenyHandler(s.handler(func(http.ResponseWriter, *http.Request) error { return errCrossed }))
	protected := http.MaxBytesHandler(crossOrigin.Handler(pages), maxForm)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		// With no-referrer the forms' Origin would be "null", and they would
		// look like those of other sites.
		header.Set("Referrer-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		protected.ServeHTTP(w, r)
	})
}
