package delivery

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Errors of this package, to be compared with errors.Is.
var (
	// ErrNotFound: there is no such job, or its history is no longer kept.
	ErrNotFound = errors.New("job not found")
	// ErrFinished: the job has ended, so that what was asked cannot be done.
	ErrFinished = errors.New("job has ended")
	// ErrRunning: the job runs at the moment.
	ErrRunning = errors.New("job is running")
	// ErrDuplicate: another active job has the same unique key.
	ErrDuplicate = errors.New("another active job has the unique key")
	// ErrNotMigrated: the library's tables are missing or older than the code.
	ErrNotMigrated = errors.New("the outbox tables are missing or out of date: run migrations.Up")
	// ErrTxUnusable: the host's transaction cannot take a job: it is aborted,
	// read-only or closed.
	ErrTxUnusable = errors.New("the transaction cannot take a job")

	// ErrStopping is the cause of a handler's context when the runner stops
	// and its drain time is over.
	ErrStopping = errors.New("the runner is stopping")
	// ErrLeaseLost is the cause of a handler's context when another runner
	// owns the job.
	ErrLeaseLost = errors.New("the job's lease was lost")
	// ErrTimeLimit is the cause of a handler's context when its type's time
	// limit has passed.
	ErrTimeLimit = errors.New("the handler's time limit has passed")
)

// A CancelError is the cause (context.Cause) of a handler's context when the
// job was cancelled.
type CancelError struct {
	By     string // who cancelled
	Reason string
}

// Error implements error.
func (e *CancelError) Error() string {
	return fmt.Sprintf("cancelled by %q: %s", e.By, e.Reason)
}

// Skip returns an error by which a handler says that there is nothing to do
// and why, such as "the recipient has no address". The job is completed, with
// the reason on record, and not retried.
func Skip(reason string) error { return &skipError{reason} }

// SkipReason returns the reason of the [Skip] in err's chain, and whether
// there is one.
func SkipReason(err error) (string, bool) {
	var s *skipError
	if errors.As(err, &s) {
		return s.reason, true
	}
	return "", false
}

type skipError struct{ reason string }

func (e *skipError) Error() string { return "skipped: " + e.reason }

// SQLSTATEs that a host can do something about.
const (
	codeTxAborted          = "25P02"
	codeTxReadOnly         = "25006"
	codeUndefinedTable     = "42P01"
	codeUndefinedColumn    = "42703"
	codeUndefinedSchema    = "3F000"
	codeInsufficientRights = "42501"
)

// explain wraps an error of the database with what was being done and, where
// the cause is a known one, what to do about it.
func (s *store) explain(operation string, err error) error {
	var pgErr *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, pgx.ErrTxClosed):
		return fmt.Errorf("delivery: %s: %w: it is already committed or rolled back: %w", operation, ErrTxUnusable, err)
	case !errors.As(err, &pgErr):
		return fmt.Errorf("delivery: %s: %w", operation, err)
	}
	switch pgErr.Code {
	case codeTxAborted:
		return fmt.Errorf("delivery: %s: %w: an earlier statement in it failed, so it can only be rolled back: %w", operation, ErrTxUnusable, err)
	case codeTxReadOnly:
		return fmt.Errorf("delivery: %s: %w: it, or the server, is read-only: %w", operation, ErrTxUnusable, err)
	case codeUndefinedTable, codeUndefinedColumn, codeUndefinedSchema:
		return fmt.Errorf("delivery: %s: schema %q: %w: %w", operation, s.schema, ErrNotMigrated, err)
	case codeInsufficientRights:
		return fmt.Errorf("delivery: %s: the database role lacks rights on schema %q: %w", operation, s.schema, err)
	}
	return fmt.Errorf("delivery: %s: %w", operation, err)
}
