package delivery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/buzon-go/buzon/internal/pgtext"
	"github.com/buzon-go/buzon/retry"
)

// DefaultSchema is the schema of the library's own tables.
const DefaultSchema = "buzon"

// QueueConfig configures a [Queue]. The zero value is ready for use.
type QueueConfig struct {
	// Schema holds the library's tables, as migrated by package migrations.
	// Defaults to "buzon".
	Schema string

	// MaxRetries is how often a job is retried when its JobParams do not say.
	// Negative means not at all. Defaults to the environment's
	// MAIL_RETRY_MAX, and 5 without that.
	MaxRetries int

	// NoNotify leaves out the NOTIFY by which this process wakes the runners
	// of others, after the commit and outside the host's transaction. They
	// then find its jobs when they poll. Defaults to false.
	NoNotify bool

	// Logger takes what has no caller to be returned to. Defaults to
	// slog.Default.
	Logger *slog.Logger
}

// A Queue is the outbox in one schema of one database: it writes jobs and
// answers for them. It is safe for concurrent use. It uses the pool for its
// own statements; jobs are written through the host's transactions.
type Queue struct {
	pool       *pgxpool.Pool
	store      *store
	maxRetries int
	log        *slog.Logger
	wakes      *wakeHub
	stats      *stats
}

// NewQueue returns the outbox in a database. It reads the environment where
// config leaves MaxRetries open, and does not touch the database. The error
// joins every fault.
func NewQueue(pool *pgxpool.Pool, config QueueConfig) (*Queue, error) {
	var faults []error
	if pool == nil {
		faults = append(faults, errors.New("delivery: queue: the pool is nil"))
	}
	schema := config.Schema
	if schema == "" {
		schema = DefaultSchema
	}
	if err := pgtext.CheckName("Schema", schema); err != nil {
		faults = append(faults, fmt.Errorf("delivery: queue: %w", err))
	}
	maxRetries := max(config.MaxRetries, 0)
	if config.MaxRetries == 0 {
		settings, err := retry.FromEnv()
		if err != nil {
			faults = append(faults, err)
		}
		maxRetries = settings.MaxRetries
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	log := config.Logger
	if log == nil {
		log = slog.Default()
	}
	q := &Queue{
		pool:       pool,
		store:      newStore(schema),
		maxRetries: maxRetries,
		log:        log,
		stats:      newStats(),
	}
	q.wakes = newWakeHub(pool, q.store.channel, config.NoNotify, log)
	return q, nil
}

// Ready returns nil when the database answers, holds the library's tables as
// this version needs them, and takes writes. ctx bounds the wait.
func (q *Queue) Ready(ctx context.Context) error {
	return q.store.probe(ctx, q.pool)
}

// Wake tells the runners that a job of one of the types, or of any type when
// none is named, may have become due. It is for hosts that commit by
// themselves; [BeginFunc] does it for those that let it commit. It does not
// wait, and nothing is lost without it: runners poll.
func (q *Queue) Wake(jobTypes ...string) {
	q.wakes.wake(jobTypes)
}

// Close waits until a NOTIFY that is under way has been sent, for little more
// than two seconds at most, and lets no other one begin. Call it before closing
// the pool; otherwise the queue remains usable.
func (q *Queue) Close() { q.wakes.close() }
