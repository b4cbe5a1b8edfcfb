package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// listen takes the address before anything else is started, so that one that
// is taken is known at once.
func listen(ctx context.Context, address string, started *teardown) (net.Listener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("%w; choose another address with -listen, such as -listen 127.0.0.1:0", err)
	}
	started.add("address", func(context.Context) error {
		if err := listener.Close(); !errors.Is(err, net.ErrClosed) { // as it is when the pages were served
			return err
		}
		return nil
	})
	return listener, nil
}

// pageURL returns the address to open in a browser.
func pageURL(listener net.Listener) string {
	address := listener.Addr().(*net.TCPAddr)
	if address.IP.IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d/", address.Port)
	}
	return fmt.Sprintf("http://%s/", address)
}

// shutdownLimit is how long requests may go on after the end of serving.
const shutdownLimit = 8 * time.Second

// serve answers requests until ctx ends, and returns when the last of them was
// answered.
func serve(ctx context.Context, listener net.Listener, pages http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler:           pages,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       15 * time.Second,
		WriteTimeout:      time.Minute,
		IdleTimeout:       time.Minute,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownLimit)
	defer cancel()
	err := server.Shutdown(ending)
	if err != nil {
		err = errors.Join(err, server.Close())
	}
	if served := <-served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}
