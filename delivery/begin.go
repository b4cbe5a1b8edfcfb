package delivery

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// BeginFunc runs fn in a transaction, like pgx.BeginFunc: it commits when fn
// returns nil and rolls back otherwise. When jobs were inserted through the
// transaction that fn gets, it wakes the runners right after the commit, so
// that the jobs start at once instead of at the next poll. Use it wherever
// events are published; the NOTIFY that reaches other hosts is sent outside
// the transaction and costs the commit nothing.
//
// db is a *pgxpool.Pool, a *pgx.Conn, or a pgx.Tx for a savepoint; where that is
// the transaction of an outer BeginFunc, the outer one wakes.
func BeginFunc(ctx context.Context, db interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}, fn func(pgx.Tx) error,
) error {
	if outer, ok := db.(*hookedTx); ok {
		return pgx.BeginFunc(ctx, outer, fn)
	}
	hooks := commitHooks{}
	err := pgx.BeginFunc(ctx, db, hooks.wrap(fn))
	return hooks.run(err)
}

// BeginFunc is [BeginFunc] on the queue's own pool, for handlers that have none.
func (q *Queue) BeginFunc(ctx context.Context, fn func(pgx.Tx) error) error {
	return BeginFunc(ctx, q.pool, fn)
}

// BeginTxFunc is [BeginFunc] with options, such as the isolation level.
func BeginTxFunc(ctx context.Context, db interface {
	BeginTx(ctx context.Context, options pgx.TxOptions) (pgx.Tx, error)
}, options pgx.TxOptions, fn func(pgx.Tx) error,
) error {
	hooks := commitHooks{}
	err := pgx.BeginTxFunc(ctx, db, options, hooks.wrap(fn))
	return hooks.run(err)
}

// commitHooks collects which types of which queue to wake.
type commitHooks map[*Queue][]string

func (h commitHooks) wrap(fn func(pgx.Tx) error) func(pgx.Tx) error {
	return func(tx pgx.Tx) error { return fn(&hookedTx{Tx: tx, hooks: h}) }
}

// run wakes the runners when the transaction was committed. It passes err on.
func (h commitHooks) run(err error) error {
	if err == nil {
		for queue, jobTypes := range h {
			queue.Wake(jobTypes...)
		}
	}
	return err
}

// hookedTx is a transaction that remembers what to do after its commit: pgx
// has no hook for that.
type hookedTx struct {
	pgx.Tx
	hooks commitHooks
}

func (t *hookedTx) afterCommit(q *Queue, jobType string) {
	if !slices.Contains(t.hooks[q], jobType) {
		t.hooks[q] = append(t.hooks[q], jobType)
	}
}

// Begin starts a savepoint that shares the hooks. One that is rolled back
// leaves a needless wake behind, nothing worse.
func (t *hookedTx) Begin(ctx context.Context) (pgx.Tx, error) {
	inner, err := t.Tx.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &hookedTx{Tx: inner, hooks: t.hooks}, nil
}
