package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/buzon-go/buzon/retry"
)

// start takes a slot and runs one claimed job in a goroutine of its own.
func (r *Runner) start(handling context.Context, c claimed) {
	slots := r.types[c.Type]
	slots.free.Add(-1)
	r.handlers.Go(func() {
		defer r.freeSlot(slots)
		began := time.Now()
		res := beforeRun(c)
		if res == nil {
			res = r.attempt(handling, slots, c.Job)
		}
		if res != nil {
			r.record(handling, slots, res, time.Since(began))
		}
	})
}

func (r *Runner) freeSlot(slots *typeSlots) {
	slots.free.Add(1)
	if r.backlog.Load() {
		r.wake()
	}
}

// attempt calls the handler under the job's lease. It returns nil when the
// lease was lost: whatever came out belongs to nobody.
func (r *Runner) attempt(handling context.Context, slots *typeSlots, job *Job) *result {
	ctx, end := context.WithCancelCause(handling)
	defer end(nil)
	held := r.leases.hold(job, end, slots.TimeLimit)
	defer r.leases.release(held)
	if slots.TimeLimit > 0 {
		timer := time.AfterFunc(slots.TimeLimit, func() { end(ErrTimeLimit) })
		defer timer.Stop()
	}
	err := call(ctx, slots.Handler, job)
	cause := causeOf(ctx)
	if cause == ErrLeaseLost { //nolint:errorlint // It is set by this package, unwrapped.
		r.lost(job, "the lease was lost while the handler ran")
		return nil
	}
	return afterRun(job, err, cause, guarded{r.retry.Strategy(job.Type)})
}

// call runs a handler on its own copy of the job; a panic becomes an error with
// its stack.
func call(ctx context.Context, handler Handler, job *Job) (err error) {
	returned := false
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the handler panicked: %v\n%s", p, debug.Stack())
		} else if !returned { // runtime.Goexit; recover has nothing to give
			err = fmt.Errorf("the handler ended its goroutine instead of returning")
		}
	}()
	own := *job
	own.Payload = json.RawMessage(bytes.Clone(job.Payload))
	err = handler.Handle(ctx, &own)
	returned = true
	return err
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
