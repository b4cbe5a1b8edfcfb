package mail

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/internal/pgtext"
)

// EnvLease is the environment variable that holds how long a claim lasts
// without renewal: a positive whole number of seconds (contract, section 3).
const EnvLease = "EMAIL_DELIVERY_LEASE_SECONDS"

// Defaults of [MailerConfig].
const (
	DefaultLease       = 300 * time.Second
	DefaultHoldRecheck = 5 * time.Minute
	DefaultSchema      = "buzon"
)

// MailerConfig configures a [Mailer].
type MailerConfig struct {
	// Sender transmits the messages. Required.
	Sender Sender

	// Schema holds the library's tables. Defaults to "buzon".
	Schema string

	// Lease is how long a claim lasts without renewal, at least a second.
	// Defaults to the environment's EMAIL_DELIVERY_LEASE_SECONDS, and 300
	// seconds without that.
	Lease time.Duration

	// HoldRecheck is how long a job waits before it looks again at a delivery
	// that is on hold. Defaults to 5 minutes.
	HoldRecheck time.Duration

	// Retention is how long deliveries are kept after they were sent, or had
	// failed, for [Mailer.Housekeeping] to delete. A deleted key can be sent
	// again, so that it must be far longer than any job is retried or replayed;
	// at least a day. Defaults to 0, which keeps them for ever.
	Retention time.Duration

	// Logger takes what happens. Defaults to slog.Default.
	Logger *slog.Logger
}

// NewMailer returns a mailer over the deliveries in a database. It reads the
// environment where config leaves Lease open, and does not touch the database.
// The error joins every fault.
func NewMailer(pool *pgxpool.Pool, config MailerConfig) (*Mailer, error) {
	var faults []error
	if pool == nil {
		faults = append(faults, errors.New("mail: mailer: the pool is nil"))
	}
	if config.Sender == nil {
		faults = append(faults, errors.New("mail: mailer: Sender is nil"))
	}
	if config.Schema == "" {
		config.Schema = DefaultSchema
	}
	if err := pgtext.CheckName("Schema", config.Schema); err != nil {
		faults = append(faults, fmt.Errorf("mail: mailer: %w", err))
	}
	if config.Lease == 0 {
		lease, err := leaseFromEnv()
		if err != nil {
			faults = append(faults, err)
		}
		config.Lease = lease
	} else if config.Lease < time.Second {
		faults = append(faults, fmt.Errorf("mail: mailer: Lease is %s; at least 1s is needed", config.Lease))
	}
	if config.HoldRecheck < 0 {
		faults = append(faults, fmt.Errorf("mail: mailer: HoldRecheck is %s; it must not be negative", config.HoldRecheck))
	}
	if config.Retention != 0 && config.Retention < minRetention {
		faults = append(faults, fmt.Errorf("mail: mailer: Retention is %s; at least %s is needed, or 0 for ever", config.Retention, minRetention))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if config.HoldRecheck == 0 {
		config.HoldRecheck = DefaultHoldRecheck
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	return &Mailer{
		pool:   pool,
		store:  newStore(config.Schema, config.Lease),
		config: config,
		log:    config.Logger,
		stats:  newStats(),
	}, nil
}

// minRetention keeps a slip from making e-mails go out twice.
const minRetention = 24 * time.Hour

// maxLeaseSeconds keeps a lease within what can be added to a point in time.
const maxLeaseSeconds = 1<<31 - 1

func leaseFromEnv() (time.Duration, error) {
	text := os.Getenv(EnvLease)
	if text == "" {
		return DefaultLease, nil
	}
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("mail: environment variable %s=%q: want a whole number from 1 to %d", EnvLease, text, maxLeaseSeconds)
	}
	return time.Duration(n) * time.Second, nil
}
