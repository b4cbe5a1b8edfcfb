package delivery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/buzon-go/buzon/retry"
)

// start takes a slot and runs one claimed job in a goroutine of its own. The
// slot is taken, and the lease renewed, until the job's result is recorded.
// What must happen then is deferred, since host code may end the goroutine
// (runtime.Goexit).
//
// running is the context of Run, handling that of its handlers.
func (r *Runner) start(running, handling context.Context, c claimed) {
	slots := r.types[c.Type]
	slots.free.Add(-1)
	r.handlers.Go(func() {
		defer r.freeSlot(slots)
		ctx, end := context.WithCancelCause(handling)
		defer end(nil)
		held := r.leases.hold(c.Job, end, slots.TimeLimit)
		defer r.leases.release(held)
		res := beforeRun(c)
		defer func() {
			if res != nil {
				r.record(handling, slots, res, time.Since(held.since))
			}
		}()
		if res == nil {
			if slots.StopAtOnce {
				defer context.AfterFunc(running, func() { end(ErrStopping) })()
			}
			r.attempt(ctx, end, slots, c.Job, &res)
		}
	})
}

func (r *Runner) freeSlot(slots *typeSlots) {
	slots.free.Add(1)
	if r.backlog.Load() {
		r.Wake()
	}
}

// errVanished is what a handler leaves behind that does not return.
var errVanished = errors.New("the handler ended its goroutine instead of returning")

// attempt calls the handler on its own copy of the job. res stays nil when the
// lease was lost: whatever came out belongs to nobody.
func (r *Runner) attempt(ctx context.Context, end context.CancelCauseFunc, slots *typeSlots, job *Job, res **result) {
	if slots.TimeLimit > 0 {
		timer := time.AfterFunc(slots.TimeLimit, func() { end(ErrTimeLimit) })
		defer timer.Stop()
	}
	err := errVanished
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the handler panicked: %v\n%s", p, debug.Stack())
		}
		*res = r.judge(ctx, job, err)
	}()
	own := *job
	own.Payload, own.Progress = bytes.Clone(job.Payload), bytes.Clone(job.Progress)
	err = slots.Handler.Handle(ctx, &own)
}

// judge makes a result of what a handler returned. An error that panics when it
// is looked at, such as a nil pointer in an error's clothes, is a failed
// attempt like any other.
func (r *Runner) judge(ctx context.Context, job *Job, err error) (res *result) {
	cause := causeOf(ctx)
	if errors.Is(cause, ErrLeaseLost) {
		r.lost(job, "the lease was lost while the handler ran")
		return nil
	}
	strategy := guarded{r.retry.Strategy(job.Type)}
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("the handler's error, a %T, panicked: %v\n%s", err, p, debug.Stack())
			res = afterRun(job, err, cause, strategy)
		}
	}()
	return afterRun(job, err, cause, strategy)
}

// record writes a result, waits until that is committed, and reports it.
func (r *Runner) record(handling context.Context, slots *typeSlots, res *result, took time.Duration) {
	r.finisher.add(res)
	<-res.done
	if !res.owned {
		r.lost(res.job, "another runner owns the job, or the result could not be written before the stop")
		return
	}
	r.queue.stats.finished(res, took)
	if res.outcome == outcomeReleased {
		r.queue.wakes.notify() // for another process to take it at once
	}
	log := r.log.With(logJob, res.job.ID, logType, res.job.Type, logTenant, res.job.Tenant, logOutcome, res.outcome)
	switch res.outcome {
	case outcomeFailed:
		log.Error("buzon: a job has failed for good", logError, res.errorText)
	case outcomeRetried:
		log.Warn("buzon: an attempt failed; the job will be retried", logError, res.errorText, "delay", res.delay)
	default:
		log.Debug("buzon: an attempt has ended", "reason", res.skipReason, logError, res.errorText)
	}
	if res.outcome == outcomeFailed && slots.OnFailed != nil {
		r.callOnFailed(handling, slots, res)
	}
}

// lost drops a result and counts it.
func (r *Runner) lost(job *Job, reason string) {
	r.queue.stats.leasesLost.WithLabelValues(job.Type).Inc()
	r.log.Warn("buzon: a job's result was dropped", logJob, job.ID, logType, job.Type, "reason", reason)
}

func (r *Runner) callOnFailed(ctx context.Context, slots *typeSlots, res *result) {
	defer func() {
		if p := recover(); p != nil {
			r.log.Error("buzon: OnFailed panicked", logJob, res.job.ID, logError, p)
		}
	}()
	job := *res.job
	job.State, job.LastError, job.FinishedAt = StateFailed, res.errorText, time.Now()
	slots.OnFailed(ctx, job)
}

// guarded keeps a host's strategy from taking the runner down: one that panics
// is answered for by the default.
type guarded struct{ strategy retry.RetryStrategyInterface }

func (g guarded) NextDelay(attempt int) (delay time.Duration) {
	defer func() {
		if recover() != nil {
			delay = retry.ExponentialBackoffStrategy{}.NextDelay(attempt)
		}
	}()
	return g.strategy.NextDelay(attempt)
}

func (g guarded) ShouldRetry(attempt, maxRetries int) (again bool) {
	defer func() {
		if recover() != nil {
			again = retry.ExponentialBackoffStrategy{}.ShouldRetry(attempt, maxRetries)
		}
	}()
	return g.strategy.ShouldRetry(attempt, maxRetries)
}
