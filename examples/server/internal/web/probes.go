package web

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// healthy says that the process answers, and nothing about what it needs: a
// restart would not bring a database back.
func (s *site) healthy(w http.ResponseWriter, _ *http.Request) error {
	_, _ = io.WriteString(w, "ok\n")
	return nil
}

// readyLimit bounds what the question costs.
const readyLimit = 3 * time.Second

// ready says whether the server can do its work. Why not, the log says.
func (s *site) ready(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyLimit)
	defer cancel()
	if err := s.Ready(ctx); err != nil {
		s.Logger.WarnContext(ctx, "sample server: not ready", "error", err)
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return nil
	}
	_, _ = io.WriteString(w, "ready\n")
	return nil
}

// metrics shows what can be gathered, and logs what cannot.
func (s *site) metrics() http.Handler {
	return promhttp.HandlerFor(s.Metrics, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(s.Logger.Handler(), slog.LevelWarn),
	})
}
