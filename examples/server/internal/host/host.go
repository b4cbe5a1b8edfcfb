package host

import (
	"errors"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/notify"
)

// What the library asks of a host.
var (
	_ notify.Users          = (*Host)(nil)
	_ notify.Tenants        = (*Host)(nil)
	_ notify.PasswordResets = (*Host)(nil)
	_ smtp.Integrations     = (*Host)(nil)
)

// Errors of this package, to be compared with errors.Is; notify.ErrNotFound is
// a further one.
var (
	// ErrEmailTaken: the tenant has a user with that address already.
	ErrEmailTaken = errors.New("a user of the tenant has this e-mail address")
	// ErrNotPending: the attempt can no longer be cancelled.
	ErrNotPending = errors.New("the attempt is no longer pending")
)

// Config configures a [Host]. Pool and Outbox are required.
type Config struct {
	Pool   *pgxpool.Pool
	Outbox *notify.Outbox

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
	mail   smtp.Integration
	from   string
}

// New returns a host. It does not touch the database; see [Host.Migrate].
func New(config Config) (*Host, error) {
	if config.Pool == nil || config.Outbox == nil {
		return nil, errors.New("host: Pool and Outbox are required")
	}
	return &Host{pool: config.Pool, outbox: config.Outbox, mail: config.Mail, from: config.From}, nil
}

// parseID returns an id as the tables have it. What is no number is nobody's
// id.
func parseID(text string) (int64, error) {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, notify.ErrNotFound
	}
	return id, nil
}

func formatID(id int64) string { return strconv.FormatInt(id, 10) }
