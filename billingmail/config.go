package billingmail

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
)

// DefaultConnections is how many e-mails of a lote go out at once.
const DefaultConnections = 8

// DefaultConcurrency is how many lotes a process works on at once.
const DefaultConcurrency = 4

// Config configures a [Service].
type Config struct {
	// Queue is where the jobs are. Required.
	Queue *delivery.Queue

	// Sender transmits the messages; the message's tenant is the branch schema.
	// Required.
	Sender mail.Sender

	// Branches gives the identity of a branch. Required.
	Branches Branches

	// Lotes reads lotes. Defaults to [AuditoriaReader].
	Lotes LoteReader

	// Paths finds the schemas of a branch. Defaults to the branch's alone.
	Paths Paths

	// Attachments returns the files of a member's e-mail, such as the vouchers
	// as PDF. It is called for each e-mail, from many goroutines. An error is
	// recorded with the entry as one that can pass, unless retry.IsPermanent.
	// Defaults to none.
	Attachments func(ctx context.Context, schema string, loteID int64, entry Entry) ([]mail.Attachment, error)

	// TestInbox gets the first e-mails of a lote with the flag prueba. Empty
	// means that they go nowhere.
	TestInbox string

	// Connections is how many e-mails of a lote go out at once. Defaults to 8.
	Connections int

	// Views are files that replace the library's: es/factura.html,
	// es/factura.txt, layout.html and so on. nil means none.
	Views fs.FS

	// Logger takes what happens. Defaults to slog.Default.
	Logger *slog.Logger
}

// A Service starts, sends, shows and cancels the billing e-mails of lotes. It is
// safe for concurrent use.
type Service struct {
	config Config
	queue  *delivery.Queue
	view   *view.View[FacturaData]
	log    *slog.Logger
}

// New returns a service. It tries the view with sample data, and does not touch
// the database. The error joins every fault.
func New(config Config) (*Service, error) {
	if config.Lotes == nil {
		config.Lotes = AuditoriaReader{}
	}
	if config.Paths == nil {
		config.Paths = ownSchema{}
	}
	config.Connections = cmp.Or(config.Connections, DefaultConnections)
	config.Logger = cmp.Or(config.Logger, slog.Default())
	rendered, viewErr := newView(config.Views)
	if err := errors.Join(config.validate(), viewErr); err != nil {
		return nil, fmt.Errorf("billingmail: service: %w", err)
	}
	return &Service{config: config, queue: config.Queue, view: rendered, log: config.Logger}, nil
}

func (c Config) validate() error {
	var faults []error
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Queue", c.Queue == nil},
		{"Sender", c.Sender == nil},
		{"Branches", c.Branches == nil},
	} {
		if field.missing {
			faults = append(faults, fmt.Errorf("%s is nil", field.name))
		}
	}
	if c.Connections < 1 || c.Connections > 1000 {
		faults = append(faults, fmt.Errorf("Connections is %d; want 1 to 1000", c.Connections))
	}
	if c.TestInbox != "" {
		if _, err := mail.ParseAddress(c.TestInbox); err != nil {
			faults = append(faults, fmt.Errorf("TestInbox: %w", err))
		}
	}
	return errors.Join(faults...)
}
