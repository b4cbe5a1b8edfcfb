// Preview shows every e-mail of Buzón in a browser, in every language and in the
// identity of two sample brands. It needs no database, and sends nothing.
//
//	go run ./examples/preview
//
// and then the address that it prints. With -files folder it shows a host's own
// template files, es/welcome.html and so on, as they are at each reload; what is
// wrong with them stands on the page.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/buzon-go/buzon/examples/internal/preview"
	"github.com/buzon-go/buzon/notify"
)

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, release) // A second Ctrl-C then ends the process at once.
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "preview:", err)
		os.Exit(1)
	}
}

// run shows the pages until ctx ends, and then returns nil.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	c, err := readConfig(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	}
	var listening net.ListenConfig
	listener, err := listening.Listen(ctx, "tcp", c.listen)
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C, before anything was started.
	case err != nil:
		return fmt.Errorf("%w; choose another address with -listen, such as -listen 127.0.0.1:0", err)
	}
	defer listener.Close()
	url := pageURL(listener)
	pages, err := newPages(c.files, url)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "Page: %s   (Ctrl-C ends it)\n", url)
	return serve(ctx, listener, pages)
}

// newPages shows the files of a folder, or the library's own where that is
// empty.
func newPages(folder, url string) (http.Handler, error) {
	brands := preview.SampleBrands(url)
	if folder != "" {
		return preview.FilesHandler(os.DirFS(folder), brands...)
	}
	views, err := notify.NewViews(nil)
	if err != nil {
		return nil, err
	}
	return preview.Handler(views, brands...)
}
