package delivery

import (
	"context"
	"errors"
	"fmt"

	"github.com/Masterminds/squirrel"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/buzon-go/buzon/internal/pgtext"
)

// GetJob returns a job, active or ended, for as long as its history is kept.
// One that does not exist is [ErrNotFound].
func (q *Queue) GetJob(ctx context.Context, id int64) (*Job, error) {
	job, err := q.store.get(ctx, q.pool, id)
	if err != nil {
		return nil, q.store.explain(fmt.Sprintf("get job %d", id), err)
	}
	return job, nil
}

// FindActive returns the active job that has a unique key, or [ErrNotFound].
func (q *Queue) FindActive(ctx context.Context, jobType, tenant, uniqueKey string) (*Job, error) {
	job, err := q.store.findActive(ctx, q.pool, jobType, tenant, uniqueKey)
	if err != nil {
		return nil, q.store.explain(fmt.Sprintf("find the active job of type %q with key %q", jobType, uniqueKey), err)
	}
	return job, nil
}

// Cancel ends a pending job at once and returns [StateCancelled]. For a
// running one it sets a request, which the handler sees through its context,
// and returns [StateRunning]: the job, and its unique key, are free when the
// handler has acknowledged or the lease has ended. by and reason are kept with
// the job; who asks first is who is kept. An ended job is [ErrFinished], an
// unknown one [ErrNotFound].
func (q *Queue) Cancel(ctx context.Context, id int64, by, reason string) (State, error) {
	operation := fmt.Sprintf("cancel job %d", id)
	if err := errors.Join(pgtext.Check("by", by, 1, 1024), pgtext.Check("reason", reason, 0, 1024)); err != nil {
		return "", fmt.Errorf("delivery: %s: %w", operation, err)
	}
	var state State
	err := pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) (err error) {
		state, err = q.store.cancel(ctx, tx, id, by, reason)
		if err == nil && state == StateRunning && !q.wakes.noNotify {
			_, err = tx.Exec(ctx, `SELECT pg_notify($1, $2)`, q.store.channel, notifyCancel)
		}
		return err
	})
	if errors.Is(err, ErrNotFound) {
		err = q.whyNotActive(ctx, id)
	}
	if err != nil {
		return "", q.store.explain(operation, err)
	}
	if state == StateRunning {
		q.wakes.look()
	}
	return state, nil
}

// cancel ends the job, or asks its runner to.
func (s *store) cancel(ctx context.Context, tx pgx.Tx, id int64, by, reason string) (State, error) {
	var state State
	err := tx.QueryRow(ctx, s.sql.lock, id).Scan(&state)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return "", ErrNotFound
	case err != nil:
		return "", err
	case state == StatePending:
		_, err = tx.Exec(ctx, s.sql.cancelNow, id, by, reason)
		return StateCancelled, err
	}
	_, err = tx.Exec(ctx, s.sql.requestCancel, id, by, reason)
	return StateRunning, err
}

// whyNotActive tells an ended job from one that does not exist.
func (q *Queue) whyNotActive(ctx context.Context, id int64) error {
	if _, err := q.store.get(ctx, q.pool, id); err != nil {
		return err
	}
	return ErrFinished
}

// RetryNow makes a job due at once. A pending one loses its waiting time. An
// ended one, whatever its outcome, becomes active again under its id, with all
// of its retries, with its progress and without its NotAfter; where another
// active job has its unique key, that is [ErrDuplicate]. A running job is
// [ErrRunning], an unknown one [ErrNotFound].
func (q *Queue) RetryNow(ctx context.Context, id int64) error {
	err := pgx.BeginFunc(ctx, q.pool, func(tx pgx.Tx) error { return q.store.makeDue(ctx, tx, id) })
	if err != nil {
		return q.store.explain(fmt.Sprintf("retry job %d", id), err)
	}
	q.Wake()
	return nil
}

const codeUniqueViolation = "23505"

func (s *store) makeDue(ctx context.Context, tx pgx.Tx, id int64) error {
	tag, err := tx.Exec(ctx, s.sql.retryNow, id)
	if err != nil || tag.RowsAffected() == 1 {
		return err
	}
	tag, err = tx.Exec(ctx, s.sql.revive, id)
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && pgErr.Code == codeUniqueViolation {
		return ErrDuplicate
	}
	if err != nil || tag.RowsAffected() == 1 {
		return err
	}
	if _, err := s.get(ctx, tx, id); err != nil {
		return err
	}
	return ErrRunning
}

// JobFilter selects jobs; its zero fields select all.
type JobFilter struct {
	Type   string
	Tenant string
	State  State
	Before int64 // ids below this one, for the next page
	Limit  int   // how many, 1 to 1,000; defaults to 50
}

// ListJobs returns jobs, the newest id first. It is for people who look, not
// for code that waits: a filter may have to pass over many rows.
func (q *Queue) ListJobs(ctx context.Context, filter JobFilter) ([]*Job, error) {
	if filter.Limit == 0 {
		filter.Limit = 50
	}
	if err := pgtext.CheckRange("Limit", filter.Limit, 1, 1000); err != nil {
		return nil, fmt.Errorf("delivery: list jobs: %w", err)
	}
	sql, args, err := q.store.list(filter)
	if err != nil {
		return nil, fmt.Errorf("delivery: list jobs: %w", err)
	}
	if sql, err = squirrel.Dollar.ReplacePlaceholders(sql); err != nil {
		return nil, fmt.Errorf("delivery: list jobs: %w", err)
	}
	rows, err := q.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, q.store.explain("list jobs", err)
	}
	jobs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*Job, error) { return scanJob(row) })
	return jobs, q.store.explain("list jobs", err)
}

// list composes the page's statement: from the active table, from the history
// or, where the state leaves that open, from both at one moment.
func (s *store) list(filter JobFilter) (string, []any, error) {
	active := filter.page(activeColumns, pgx.Identifier{s.schema, "outbox_jobs"}.Sanitize())
	ended := filter.page(endedColumns, pgx.Identifier{s.schema, "outbox_job_history"}.Sanitize())
	switch {
	case filter.State == "":
		return squirrel.Expr("(?) UNION ALL (?) ORDER BY 1 DESC LIMIT ?", active, ended, filter.Limit).ToSql()
	case filter.State.Final():
		return ended.ToSql()
	default:
		return active.ToSql()
	}
}

func (f JobFilter) page(columns, table string) squirrel.SelectBuilder {
	page := squirrel.Select(columns).From(table).OrderBy("id DESC").Limit(uint64(f.Limit)) //nolint:gosec // Checked.
	equal := squirrel.Eq{}
	if f.Type != "" {
		equal["job_type"] = f.Type
	}
	if f.Tenant != "" {
		equal["tenant"] = f.Tenant
	}
	if f.State != "" {
		equal["state"] = string(f.State)
	}
	if f.Before > 0 {
		page = page.Where(squirrel.Lt{"id": f.Before})
	}
	return page.Where(equal)
}
