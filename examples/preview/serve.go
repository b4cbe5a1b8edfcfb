package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

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
func serve(ctx context.Context, listener net.Listener, pages http.Handler) error {
	server := &http.Server{Handler: pages, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute}
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
	if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
		err = errors.Join(err, ended)
	}
	return err
}
