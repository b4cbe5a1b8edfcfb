package billingmail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
)

// A Progress tells how far a lote has come.
type Progress struct {
	Resumen Resumen

	// Active says that an e-mail job of the lote waits or runs; the fields that
	// follow are then its own.
	Active      bool
	JobID       int64
	RequestedBy string // who asked for it
	State       delivery.State
	RetryCount  int       // retries spent
	MaxRetries  int       // retries allowed
	NextRetryAt time.Time // of a job that waits for its retry
	Cancelling  bool      // its cancellation was asked for
	LastError   string

	// PerSecond is how many entries were attempted a second of late.
	PerSecond float64
	// Remaining is how long what is pendiente takes at that rate; 0 where it
	// cannot be told.
	Remaining time.Duration
}

// rateWindow is over how long a rate is measured.
const rateWindow = 15 * time.Second

// Progress returns how far a lote has come. Errors are those of [Service.List].
func (s *Service) Progress(ctx context.Context, schema string, loteID int64) (Progress, error) {
	var p Progress
	job, err := s.activeJob(ctx, schema, loteID)
	if err == nil && job != nil {
		p.Active, p.JobID, p.State, p.RetryCount, p.MaxRetries = true, job.ID, job.State, job.RetryCount, job.MaxRetries
		p.RequestedBy = job.CreatedBy
		p.Cancelling, p.LastError = !job.CancelRequestedAt.IsZero(), job.LastError
		if job.State == delivery.StatePending && job.RetryCount > 0 {
			p.NextRetryAt = job.NextRetryAt
		}
	}
	if err == nil {
		err = s.inLote(ctx, schema, loteID, func(tx pgx.Tx, b branch) (err error) {
			if p.Resumen, err = b.count(ctx, tx, loteID); err != nil || p.State != delivery.StateRunning {
				return err
			}
			return p.measure(ctx, tx, b, loteID, job.StartedAt)
		})
	}
	if err != nil {
		return Progress{}, fmt.Errorf("billingmail: progress of lote %d of schema %q: %w", loteID, schema, err)
	}
	return p, nil
}

// measure fills in the rate of a job that runs.
func (p *Progress) measure(ctx context.Context, tx pgx.Tx, b branch, loteID int64, startedAt time.Time) error {
	window := min(rateWindow, max(time.Since(startedAt), time.Second))
	recent, err := b.recent(ctx, tx, loteID, window.Seconds())
	if err != nil {
		return err
	}
	p.PerSecond = float64(recent) / window.Seconds()
	if p.PerSecond > 0 {
		p.Remaining = time.Duration(float64(p.Resumen.Pendiente) / p.PerSecond * float64(time.Second))
	}
	return nil
}

// activeJob returns the active job of a lote, or nil.
func (s *Service) activeJob(ctx context.Context, schema string, loteID int64) (*delivery.Job, error) {
	job, err := s.queue.FindActive(ctx, JobTypeName, schema, uniqueKey(loteID))
	if errors.Is(err, delivery.ErrNotFound) {
		return nil, nil //nolint:nilnil // Both mean what they say.
	}
	return job, err
}

// Cancel ends the active e-mail job of a lote: what is under way ends, and the
// rest becomes omitido, with by as who did it. It returns the job and whether
// that has ended already; one that runs takes some seconds. Without an active
// job it is [ErrNotActive].
func (s *Service) Cancel(ctx context.Context, schema string, loteID int64, by string) (jobID int64, ended bool, err error) {
	// A lote that does not exist is told from one that is not being sent.
	err = s.inLote(ctx, schema, loteID, func(pgx.Tx, branch) error { return nil })
	if err == nil {
		jobID, ended, err = s.cancel(ctx, schema, loteID, by)
	}
	if err != nil {
		return 0, false, fmt.Errorf("billingmail: cancel lote %d of schema %q: %w", loteID, schema, err)
	}
	return jobID, ended, nil
}

func (s *Service) cancel(ctx context.Context, schema string, loteID int64, by string) (jobID int64, ended bool, err error) {
	job, err := s.activeJob(ctx, schema, loteID)
	switch {
	case err != nil:
		return 0, false, err
	case job == nil:
		return 0, false, ErrNotActive
	}
	state, err := s.queue.Cancel(ctx, job.ID, by, "")
	switch {
	case errors.Is(err, delivery.ErrFinished), errors.Is(err, delivery.ErrNotFound):
		return 0, false, ErrNotActive
	case err != nil:
		return 0, false, err
	case state == delivery.StateRunning:
		return job.ID, false, nil // its handler ends the entries
	}
	return job.ID, true, s.omit(ctx, schema, loteID, job.ID, cancelledBy(by))
}
