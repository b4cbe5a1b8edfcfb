package delivery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/internal/pgtext"
	"github.com/buzon-go/buzon/retry"
)

// An outcome is how one attempt ended; it is also a metric's label.
type outcome string

const (
	outcomeCompleted outcome = "completed"
	outcomeSkipped   outcome = "skipped"
	outcomeFailed    outcome = "failed"
	outcomeCancelled outcome = "cancelled"
	outcomeRetried   outcome = "retried"   // pending again, one retry spent
	outcomePostponed outcome = "postponed" // pending again, none spent
	outcomeReleased  outcome = "released"  // interrupted by the runner's stop
)

// state returns the state that a job has after the outcome.
func (o outcome) state() State {
	switch o {
	case outcomeCompleted, outcomeSkipped:
		return StateCompleted
	case outcomeFailed:
		return StateFailed
	case outcomeCancelled:
		return StateCancelled
	default:
		return StatePending
	}
}

// result is the outcome of one attempt, to be written under the job's fencing
// number.
type result struct {
	job        *Job
	outcome    outcome
	delay      time.Duration // until the next attempt
	errorText  string
	skipReason string

	// done is closed when the result is written or dropped; owned then tells
	// which.
	done  chan struct{}
	owned bool
}

// settle tells whoever waits whether the result was written.
func (r *result) settle(owned bool) {
	r.owned = owned
	close(r.done)
}

// maxLostLeases is how many leases in a row may end without a result before
// the job is taken for one that kills its workers (contract, section 1).
const maxLostLeases = 20

// beforeRun returns the result of a claimed job that must not run, or nil.
func beforeRun(c claimed) *result {
	switch {
	case !c.CancelRequestedAt.IsZero():
		return &result{job: c.Job, outcome: outcomeCancelled}
	case c.LostLeases >= maxLostLeases:
		return &result{job: c.Job, outcome: outcomeFailed, errorText: fmt.Sprintf(
			"%d leases in a row ended without a result: the job seems to kill its workers", c.LostLeases)}
	case c.tooLate:
		return &result{job: c.Job, outcome: outcomeFailed, errorText: "the job was not started before its deadline (NotAfter)" + lastErrorSuffix(c.Job)}
	}
	return nil
}

func lastErrorSuffix(j *Job) string {
	if j.LastError == "" {
		return ""
	}
	return "; last error: " + j.LastError
}

// afterRun turns what a handler returned into a result. cause is why its
// context ended, or nil.
func afterRun(job *Job, err, cause error, strategy retry.RetryStrategyInterface) *result {
	r := &result{job: job, outcome: outcomeCompleted}
	if err == nil {
		return r
	}
	r.errorText = pgtext.Storable(err.Error())
	var cancelled *CancelError
	if errors.As(cause, &cancelled) {
		r.outcome = outcomeCancelled
		return r
	}
	if reason, ok := SkipReason(err); ok {
		r.outcome, r.errorText, r.skipReason = outcomeSkipped, "", pgtext.Storable(reason)
		return r
	}
	if retry.IsPermanent(err) {
		r.outcome = outcomeFailed
		return r
	}
	overtime := errors.Is(cause, ErrTimeLimit) // spends a retry, whatever came of it
	if delay, ok := retry.AfterDelay(err); ok && !overtime {
		r.outcome, r.delay = outcomePostponed, min(delay, maxWait)
		return r
	}
	if errors.Is(cause, ErrStopping) {
		r.outcome, r.errorText = outcomeReleased, ""
		return r
	}
	if overtime {
		r.errorText = pgtext.Storable(fmt.Sprintf("%v: %v", ErrTimeLimit, err))
	}
	if !strategy.ShouldRetry(job.RetryCount, job.MaxRetries) {
		r.outcome = outcomeFailed
		return r
	}
	r.outcome, r.delay = outcomeRetried, min(max(strategy.NextDelay(job.RetryCount), 0), maxWait)
	return r
}

// maxWait keeps a point in time within what PostgreSQL and Go can hold.
const maxWait = 100 * 365 * 24 * time.Hour

// causeOf returns why a handler's context ended, or nil while it has not.
func causeOf(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return context.Cause(ctx)
}
