package host

import (
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/notify"
)

// What the library asks of a host.
var (
	_ notify.Users          = (*Host)(nil)
	_ notify.Tenants        = (*Host)(nil)
	_ notify.PasswordResets = (*Host)(nil)
	_ notify.Purchases      = (*Host)(nil)
	_ notify.Tickets        = (*Host)(nil)
	_ notify.EventDates     = (*Host)(nil)
	_ smtp.Integrations     = (*Host)(nil)
)

// Errors of this package, to be compared with errors.Is; notify.ErrNotFound is
// a further one.
var (
	// ErrEmailTaken: the tenant has a user with that address already.
	ErrEmailTaken = errors.New("a user of the tenant has this e-mail address")
	// ErrNotPending: the attempt can no longer be cancelled.
	ErrNotPending = errors.New("the attempt is no longer pending")
	// ErrNotForSale: the date does not take place, or is not of the user's
	// tenant; or one of the two does not exist.
	ErrNotForSale = errors.New("the user cannot buy for this date")
	// ErrNotPayable: the purchase is not pending, or its date does not take
	// place.
	ErrNotPayable = errors.New("the purchase cannot be paid")
	// ErrAnnulled: the purchase was annulled.
	ErrAnnulled = errors.New("the purchase was annulled")
	// ErrNotScheduled: the date was rescheduled or suspended already.
	ErrNotScheduled = errors.New("the date is no longer scheduled")
	// ErrDateTaken: the event has a date that begins at the same time.
	ErrDateTaken = errors.New("the event has a date at this time")
)

// Config configures a [Host]. Pool, Outbox and URL are required.
type Config struct {
	Pool   *pgxpool.Pool
	Outbox *notify.Outbox

	// URL is that of the host's pages, with a slash at its end: e-mails link to
	// them, and load their logos there.
	URL string

	// Mail is the SMTP integration of the tenants that have none of their own.
	Mail smtp.Integration
	// From, when not empty, is the sender of every tenant: a real server takes
	// only those that it knows.
	From string
}

// A Host is safe for concurrent use.
type Host struct {
	pool   *pgxpool.Pool
	outbox *notify.Outbox
	url    string
	mail   smtp.Integration
	from   string
}

// New returns a host. It does not touch the database; see [Host.Migrate].
func New(config Config) (*Host, error) {
	if config.Pool == nil || config.Outbox == nil || config.URL == "" {
		return nil, errors.New("host: Pool, Outbox and URL are required")
	}
	return &Host{pool: config.Pool, outbox: config.Outbox, url: config.URL, mail: config.Mail, from: config.From}, nil
}

// parseID returns an id as the tables have it. What is written in another way
// than formatID writes it is nobody's id.
func parseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || formatID(id) != text {
		return 0, notify.ErrNotFound
	}
	return id, nil
}

func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// publishAfter returns the options of an event whose e-mail is to go out after a
// delay: until then, what the listener finds can still change.
func publishAfter(delay time.Duration) notify.PublishOptions {
	options := notify.PublishOptions{CreatedBy: "sample server"}
	if delay > 0 {
		options.NotBefore = time.Now().Add(delay)
	}
	return options
}
