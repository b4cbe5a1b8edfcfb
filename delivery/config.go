package delivery

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/buzon-go/buzon/internal/pgtext"
	"github.com/buzon-go/buzon/retry"
)

// A Handler does the work of one job type. It must be idempotent or tolerate a
// repeat: a job runs again when its process died, its lease was lost or its
// result could not be recorded. See the package documentation for what its
// result means. It is called from many goroutines at once.
type Handler interface {
	// Handle runs one attempt. ctx ends when the job is cancelled, its lease
	// is lost, its time limit has passed or the runner stops for good;
	// context.Cause tells which ([CancelError], [ErrLeaseLost],
	// [ErrTimeLimit], [ErrStopping]). job is the handler's own copy.
	Handle(ctx context.Context, job *Job) error
}

// HandlerFunc is a function as a [Handler].
type HandlerFunc func(ctx context.Context, job *Job) error

// Handle implements [Handler].
func (f HandlerFunc) Handle(ctx context.Context, job *Job) error { return f(ctx, job) }

// Defaults of [JobType] and [RunnerConfig].
const (
	DefaultConcurrency  = 16
	DefaultTimeLimit    = 30 * time.Minute
	DefaultLease        = time.Minute
	DefaultPollInterval = time.Second
	DefaultDrainTimeout = 30 * time.Second
	DefaultStopTimeout  = 10 * time.Second
	DefaultRetention    = 30 * 24 * time.Hour
)

// A JobType says how a runner handles the jobs of one type.
type JobType struct {
	// Name is the jobs' type. Required, and unique in a runner.
	Name string

	// Handler does the work. Required. It must be idempotent or tolerate a
	// repeat; see [Handler].
	Handler Handler

	// Concurrency is how many jobs of the type run at once in this runner.
	// Defaults to 16.
	Concurrency int

	// TimeLimit bounds one attempt; one that exceeds it has its context ended
	// and spends a retry. A handler that does not return even then loses its
	// lease one lease time later, so that another runner can take the job.
	// Negative means no limit. Defaults to 30 minutes, which leaves room for
	// the ten that an SMTP server may take to answer.
	TimeLimit time.Duration

	// StopAtOnce ends the attempts of the type as soon as the runner stops,
	// instead of after DrainTimeout: for jobs that take long and can be cut
	// anywhere, so that another runner goes on at once. Defaults to false.
	StopAtOnce bool

	// OnFailed, when not nil, is called after a job has failed for good and
	// that is recorded; a crash in between loses the call. The job's Progress
	// is as its last attempt found it. ctx ends when the runner stops for good.
	OnFailed func(ctx context.Context, job Job)
}

// RunnerConfig configures a [Runner].
type RunnerConfig struct {
	// JobTypes are the types that this runner handles. Jobs of other types are
	// left alone, for another host, and show in the metrics. Required.
	JobTypes []JobType

	// Retry gives each type its strategy. Defaults to
	// retry.NewRegistry(nil): the exponential strategy with the process's
	// environment.
	Retry *retry.Registry

	// Name is what claims are marked with, for whoever looks at the tables.
	// Defaults to host name, process id and a random part.
	Name string

	// Lease is how long a claim lasts without renewal, at least a second. A
	// crashed runner's jobs run again after that; a running job's lease is
	// renewed at each quarter of it, on a connection beside the pool's.
	// Defaults to a minute.
	Lease time.Duration

	// PollInterval is the longest time to the next look for due jobs; wakes
	// come earlier. Defaults to a second.
	PollInterval time.Duration

	// NoListen leaves out the connection, beside the pool's, on which the
	// runner hears of other processes' jobs and of cancellations. Set it where
	// a transaction pooler stands before the database: LISTEN does not work
	// behind one. Defaults to false.
	NoListen bool

	// DrainTimeout is how long Run, once its context has ended, lets handlers
	// go on undisturbed, those of types with StopAtOnce apart. Negative means not at all. Defaults to 30 seconds.
	DrainTimeout time.Duration

	// StopTimeout is how long Run then waits for handlers whose context it has
	// ended. Defaults to 10 seconds.
	StopTimeout time.Duration

	// Retention is how long ended jobs can be looked up. Negative means for
	// ever. Defaults to 30 days.
	Retention time.Duration

	// Housekeeping are further tasks to be called about once a minute, such as
	// mail.Mailer.Housekeeping. Each has a minute, then its context ends. Their
	// errors are logged.
	Housekeeping []func(context.Context) error

	// Logger takes what happens. Defaults to slog.Default.
	Logger *slog.Logger
}

// withDefaults returns a copy that has every field set.
func (c RunnerConfig) withDefaults() RunnerConfig {
	c.Name = cmp.Or(c.Name, defaultName())
	c.Lease = cmp.Or(c.Lease, DefaultLease)
	c.PollInterval = cmp.Or(c.PollInterval, DefaultPollInterval)
	c.DrainTimeout = cmp.Or(c.DrainTimeout, DefaultDrainTimeout)
	c.StopTimeout = cmp.Or(c.StopTimeout, DefaultStopTimeout)
	c.Retention = cmp.Or(c.Retention, DefaultRetention)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	c.JobTypes = slices.Clone(c.JobTypes)
	for i := range c.JobTypes {
		t := &c.JobTypes[i]
		t.Concurrency = cmp.Or(t.Concurrency, DefaultConcurrency)
		t.TimeLimit = cmp.Or(t.TimeLimit, DefaultTimeLimit)
	}
	return c
}

func defaultName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "host"
	}
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), rand.Text()[:6])
}

// validate returns every fault.
func (c RunnerConfig) validate() error {
	faults := []error{
		pgtext.Check("Name", c.Name, 1, 255),
		checkMinimum("Lease", c.Lease, time.Second),
		checkMinimum("PollInterval", c.PollInterval, time.Millisecond),
		checkMinimum("StopTimeout", c.StopTimeout, 0),
	}
	if len(c.JobTypes) == 0 {
		faults = append(faults, errors.New("JobTypes is empty"))
	}
	seen := map[string]bool{}
	for i, t := range c.JobTypes {
		field := fmt.Sprintf("JobTypes[%d] (%q): ", i, t.Name)
		faults = append(faults,
			pgtext.Check(field+"Name", t.Name, 1, 255),
			pgtext.CheckRange(field+"Concurrency", t.Concurrency, 1, 100_000))
		if f, isFunc := t.Handler.(HandlerFunc); t.Handler == nil || isFunc && f == nil {
			faults = append(faults, errors.New(field+"Handler is nil"))
		}
		if seen[t.Name] {
			faults = append(faults, errors.New(field+"Name is there twice"))
		}
		seen[t.Name] = true
	}
	return errors.Join(faults...)
}

func checkMinimum(field string, d, low time.Duration) error {
	if d < low {
		return fmt.Errorf("%s is %s; at least %s is needed", field, d, low)
	}
	return nil
}
