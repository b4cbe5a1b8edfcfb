package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"github.com/buzon-go/buzon/examples/server/internal/web"
)

// run is the whole server, from reading its settings until everything that it
// started has ended. It returns nil when ctx ended it.
func run(ctx context.Context, args []string, getenv func(string) string, stdout io.Writer) (err error) {
	config, err := readConfig(args, getenv, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	var started teardown
	defer func() {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = nil // Ctrl-C, before everything was started.
		}
		err = errors.Join(err, started.end(ctx))
	}()
	return start(ctx, config, &started, stdout)
}

// start starts everything, and returns when ctx, or what should not end before
// it, has ended. What it started is in the teardown: pages, runner, transport,
// sink and database end in this order.
func start(ctx context.Context, c config, started *teardown, stdout io.Writer) error {
	log := slog.New(slog.NewTextHandler(stdout, nil))
	listener, err := listen(ctx, c.listen, started)
	if err != nil {
		return err
	}
	pool, which, err := openDatabase(ctx, c, log, started)
	if err != nil {
		return err
	}
	sink, where, err := openMailServer(&c.smtp, started)
	if err != nil {
		return err
	}
	parts, err := wire(ctx, pool, c.smtp, pageURL(listener), log)
	if err != nil {
		return err
	}
	pages, err := web.New(web.Config{
		Host: parts.host, Queue: parts.queue, Mailer: parts.mailer, Service: parts.service, Sink: sink, URL: pageURL(listener),
		Previews: parts.previews, Metrics: parts.metrics, Ready: parts.ready, Logger: log,
	})
	if err != nil {
		return err
	}

	ctx, stop := context.WithCancel(ctx)
	defer stop()
	started.add("SMTP transport", parts.transport.Close)
	started.add("queue", func(context.Context) error { parts.queue.Close(); return nil })
	started.add("runner", background(parts.runner.Run, stop))
	started.add("pages", background(func(ctx context.Context) error { return serve(ctx, listener, pages, log) }, stop))

	fmt.Fprintf(stdout, "Database: %s\nE-mails:  %s\nPage:     %s   (Ctrl-C ends it)\n", which, where, pageURL(listener))
	<-ctx.Done()
	fmt.Fprintln(stdout, "Stopping; a second Ctrl-C does not wait for what is going on.")
	return nil
}
