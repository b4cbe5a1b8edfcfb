package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/buzon-go/buzon/internal/timing"
	"github.com/buzon-go/buzon/retry"
)

// Keys of log attributes.
const (
	logError   = "error"
	logJob     = "job_id"
	logType    = "job_type"
	logTenant  = "tenant"
	logOutcome = "outcome"
	logRunner  = "runner"
)

// A Runner claims due jobs and calls their handlers. It does its work in
// [Runner.Run].
type Runner struct {
	queue  *Queue
	config RunnerConfig
	retry  *retry.Registry
	log    *slog.Logger
	types  map[string]*typeSlots

	finisher *finisher
	leases   *leases
	calm     *timing.Calm    // since the database could not be used, or Run began
	wakeUp   chan struct{}   // holds one: look for due jobs
	takes    atomic.Bool     // the last look succeeded, and there will be another
	backlog  atomic.Bool     // the last look left due jobs behind, or may have
	running  atomic.Bool     // Run is active
	lastLook atomic.Int64    // when the last claim succeeded, in Unix nanoseconds of this process
	handlers *sync.WaitGroup // of the present Run
}

// typeSlots counts the free slots of a type. A slot is taken from the claim
// until the job's result is committed, so that a slow database slows claiming
// instead of losing results.
type typeSlots struct {
	JobType
	free atomic.Int64
}

// NewRunner returns a runner over the queue's jobs. It does not touch the
// database. The error joins every fault.
func NewRunner(queue *Queue, config RunnerConfig) (*Runner, error) {
	config = config.withDefaults()
	faults := []error{config.validate()}
	if queue == nil {
		faults = append(faults, errors.New("the queue is nil"))
	}
	registry := config.Retry
	if registry == nil {
		var err error
		registry, err = retry.NewRegistry(nil)
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("delivery: runner: %w", err)
	}
	r := &Runner{
		queue:  queue,
		config: config,
		retry:  registry,
		log:    config.Logger.With(logRunner, config.Name),
		types:  map[string]*typeSlots{},
		wakeUp: make(chan struct{}, 1),
	}
	for _, t := range config.JobTypes {
		slots := &typeSlots{JobType: t}
		slots.free.Store(int64(t.Concurrency))
		r.types[t.Name] = slots
	}
	r.calm = &timing.Calm{}
	r.finisher = newFinisher(queue, r.calm, config.Lease, r.log)
	r.leases = newLeases(queue, r.calm, config.Lease, r.log)
	return r, nil
}

// Run claims and handles jobs until ctx ends, then stops in two steps: it
// claims nothing more and lets handlers go on for DrainTimeout, those of types
// with StopAtOnce apart; then it ends their contexts, with [ErrStopping] as the cause, and waits for StopTimeout.
// A job that was interrupted so is released, at once due for others, and
// spends no retry. When every job has ended so, Run returns nil and leaves no
// goroutine behind. Where handlers have not returned, or results could not be
// written, it returns an error that says how many, and those jobs run again
// when their leases end.
//
// Errors of the database are logged and tried again; only tables that are
// missing when Run first reaches the database end it at once, with
// [ErrNotMigrated]. A runner runs once at a time.
func (r *Runner) Run(ctx context.Context) error {
	if !r.running.CompareAndSwap(false, true) {
		return errors.New("delivery: run: the runner is running already")
	}
	defer r.running.Store(false)
	if err := r.awaitDatabase(ctx); err != nil {
		r.log.Error("buzon: the runner cannot start", logError, err)
		return err
	}
	r.calm.Disturb()
	r.handlers = &sync.WaitGroup{}
	r.lastLook.Store(time.Now().UnixNano()) // Ready counts from here
	r.finisher.start()
	r.queue.wakes.add(r)
	defer r.queue.wakes.remove(r)

	// The helpers outlive ctx, since they serve handlers that still run.
	helpers, stopHelpers := context.WithCancel(context.WithoutCancel(ctx))
	handling, stopHandlers := context.WithCancelCause(helpers)
	var helping sync.WaitGroup
	for _, help := range r.helpers() {
		helping.Go(func() { help(helpers) })
	}
	r.log.Info("buzon: the runner has started", "job_types", len(r.types))
	r.claimLoop(ctx, handling)
	err := r.drain(stopHandlers)
	stopHelpers()
	helping.Wait()
	if err != nil {
		r.log.Error("buzon: the runner has stopped", logError, err)
	} else {
		r.log.Info("buzon: the runner has stopped")
	}
	return err
}

// helpers are the loops that Run starts and waits for.
func (r *Runner) helpers() []func(context.Context) {
	helpers := []func(context.Context){r.finisher.run, r.leases.run, r.housekeep}
	if !r.config.NoListen {
		helpers = append(helpers, r.listen)
	}
	return helpers
}

// awaitDatabase returns when the outbox can be used, or ctx has ended (nil),
// or the tables are missing.
func (r *Runner) awaitDatabase(ctx context.Context) error {
	for ctx.Err() == nil {
		err := timing.Within(ctx, statementTimeout, r.queue.Ready)
		if err == nil || errors.Is(err, ErrNotMigrated) {
			return err
		}
		r.log.Warn("buzon: the runner waits for the database", logError, err)
		timing.Pause(ctx, r.config.PollInterval)
	}
	return nil
}

// statementTimeout bounds each statement of the runner, the wait for a
// connection of the pool included.
const statementTimeout = 15 * time.Second

// claimLoop claims until ctx ends. handling is the parent of the handlers'
// contexts.
func (r *Runner) claimLoop(ctx, handling context.Context) {
	defer r.takes.Store(false)
	for ctx.Err() == nil {
		wait := r.pollDelay()
		if r.claim(ctx, handling) && r.hasRoom() {
			wait = 0
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-r.wakeUp:
		}
		timer.Stop()
	}
}

// pollDelay spreads the polls of many processes.
func (r *Runner) pollDelay() time.Duration {
	poll := r.config.PollInterval
	return poll - poll/10 + rand.N(poll/5+1)
}

// claim takes what there is room for and starts its handlers. It reports
// whether more may be due.
func (r *Runner) claim(ctx, handling context.Context) (more bool) {
	var types []string
	var rooms []int
	full := false
	for name, slots := range r.types {
		if room := slots.free.Load(); room > 0 {
			types = append(types, name)
			rooms = append(rooms, int(room))
		} else {
			full = true
		}
	}
	// Set before the look: a slot that becomes free meanwhile must see it.
	r.backlog.Store(full)
	if len(types) == 0 {
		return false
	}
	// A claim that has been sent is waited for, also when ctx ends: its jobs
	// would otherwise wait for their leases to end.
	var jobs []claimed
	limit := min(statementTimeout, r.config.Lease/2) // a later answer would bring leases that end at once
	err := timing.Within(context.WithoutCancel(ctx), limit, func(ctx context.Context) (err error) {
		jobs, err = r.queue.store.claim(ctx, r.queue.pool, types, rooms, r.config.Lease, r.config.Name, r.isCalm())
		return err
	})
	if err != nil {
		r.calm.Disturb()
		r.takes.Store(false)
		r.log.Warn("buzon: claim jobs", logError, err)
		r.queue.stats.claimErrors.Inc()
		return false
	}
	r.takes.Store(true)
	r.lastLook.Store(time.Now().UnixNano())
	counts := map[string]int{}
	for _, c := range jobs {
		counts[c.Type]++
		r.start(ctx, handling, c)
	}
	for i, name := range types {
		if counts[name] == rooms[i] {
			more = true
		}
	}
	if more {
		r.backlog.Store(true)
	}
	return more
}

// isCalm reports whether leases that have ended may be taken over: for one
// lease time their owners, this runner among them, have been able to renew them.
func (r *Runner) isCalm() bool { return r.calm.Left(r.config.Lease) <= 0 && !r.leases.overslept() }

func (r *Runner) hasRoom() bool {
	for _, slots := range r.types {
		if slots.free.Load() > 0 {
			return true
		}
	}
	return false
}

// wakeFor makes the runner look for due jobs, and reports whether it can take
// one of the types (of any type, when there are none) at once.
func (r *Runner) wakeFor(jobTypes []string) bool {
	r.Wake()
	if !r.takes.Load() {
		return false
	}
	for _, jobType := range jobTypes {
		if slots, ok := r.types[jobType]; !ok || slots.free.Load() <= 0 {
			return false
		}
	}
	return len(jobTypes) > 0
}

// Wake makes the runner look for due jobs at once. See [Queue.Wake], which
// wakes other processes too.
func (r *Runner) Wake() {
	select {
	case r.wakeUp <- struct{}{}:
	default: // it is awake
	}
}

// drain waits for the handlers, in two steps.
func (r *Runner) drain(stopHandlers context.CancelCauseFunc) error {
	idle := make(chan struct{})
	handlers := r.handlers
	go func() {
		handlers.Wait()
		close(idle)
	}()
	defer stopHandlers(ErrStopping)
	if waitFor(idle, max(r.config.DrainTimeout, 0)) {
		return nil
	}
	stopHandlers(ErrStopping)
	if waitFor(idle, r.config.StopTimeout) {
		return nil
	}
	return fmt.Errorf("delivery: run: %d jobs did not end within %s of being stopped; they run again when their leases end",
		r.leases.count(), r.config.StopTimeout)
}

func waitFor(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// Ready returns nil while Run is active, its looks for due jobs succeed, and
// the database answers, holds the library's tables and takes writes. It is for
// a readiness probe; ctx bounds it.
func (r *Runner) Ready(ctx context.Context) error {
	if !r.running.Load() {
		return errors.New("delivery: ready: the runner is not running")
	}
	if err := r.queue.Ready(ctx); err != nil {
		return err
	}
	last := time.Unix(0, r.lastLook.Load())
	if stale := 3*r.config.PollInterval + statementTimeout; time.Since(last) > stale && r.hasRoom() {
		return fmt.Errorf("delivery: ready: no look for due jobs has succeeded for more than %s", stale)
	}
	return nil
}
