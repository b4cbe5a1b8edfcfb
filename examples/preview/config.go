package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const usage = `Usage: preview [flags]

Shows every e-mail in a browser; nothing is sent. Flags:

  -listen address   where the pages are (default 127.0.0.1:8026; port 0 is any
                    free one)
  -files folder     a host's own template files, read anew at each reload;
                    without it, the library's own
`

// A config is what the command line says.
type config struct {
	listen string
	files  string // the folder; empty: none
}

// readConfig returns all faults at once. -h is flag.ErrHelp, after the usage
// was written.
func readConfig(args []string, stdout io.Writer) (config, error) {
	var c config
	flags := flag.NewFlagSet("preview", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // The error says what is wrong.
	flags.Usage = func() { _, _ = io.WriteString(stdout, usage) }
	flags.StringVar(&c.listen, "listen", "127.0.0.1:8026", "")
	flags.StringVar(&c.files, "files", "", "")
	if err := flags.Parse(args); err != nil {
		return c, err
	}
	var fault error
	if flags.NArg() > 0 {
		fault = fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	return c, errors.Join(fault, checkFolder(c.files))
}

func checkFolder(folder string) error {
	if folder == "" {
		return nil
	}
	info, err := os.Stat(folder)
	switch {
	case err != nil:
		return fmt.Errorf("-files: %w", err)
	case !info.IsDir():
		return fmt.Errorf("-files: %s is no folder", folder)
	}
	return nil
}
