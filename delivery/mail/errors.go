package mail

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Errors of this package, to be compared with errors.Is.
var (
	// ErrBusy: another worker has a live claim on the key. It comes wrapped by
	// retry.After, with the time when that claim can have ended.
	ErrBusy = errors.New("another worker is sending this e-mail")
	// ErrOnHold: whether the e-mail was taken is unknown, and its kind is not
	// sent again by itself; see [Mailer.Resolve]. It comes wrapped by
	// retry.After.
	ErrOnHold = errors.New("the outcome of this e-mail is unknown, and it is on hold until somebody resolves it")
	// ErrClaimLost: the claim ended before the final dot, so nothing was sent.
	// It comes wrapped by retry.After.
	ErrClaimLost = errors.New("the claim on this e-mail was lost before it was sent")
	// ErrNotFound: there is no delivery with that key.
	ErrNotFound = errors.New("delivery not found")
	// ErrNotOnHold: the delivery's outcome is not unknown, so that there is
	// nothing to resolve.
	ErrNotOnHold = errors.New("delivery is not on hold")
	// ErrNotMigrated: the library's tables are missing or older than the code.
	ErrNotMigrated = errors.New("the table of deliveries is missing or out of date: run migrations.Up")
)

// explain wraps an error of the database with what was being done.
func (s *store) explain(operation string, err error) error {
	if err == nil {
		return nil
	}
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) {
		switch pgErr.Code {
		case "42P01", "42703", "3F000": // undefined table, column, schema
			return fmt.Errorf("mail: %s: schema %q: %w: %w", operation, s.schema, ErrNotMigrated, err)
		}
	}
	return fmt.Errorf("mail: %s: %w", operation, err)
}
