package delivery

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// SaveProgress keeps, with a running job, how far its handler has come, for the
// attempts after this one: they find it in Job.Progress, whether this one ends
// in a retry, a postponement or the death of its process, and also after
// [Queue.RetryNow]. progress is stored as JSON, of at most 1 MiB, as payloads
// are; it should be a cursor. nil, or what encodes to null, is nothing: the next
// attempt begins again.
//
// It writes through the caller's transaction, whose context ctx is, so that the
// progress is kept when, and only when, what it tells of is: write both in one
// [Queue.BeginFunc], such as the children of [Queue.InsertMany] and the cursor
// behind them. On success job.Progress is what was saved; that means something
// only once the transaction has committed. After a rollback the row has what it
// had before, and job.Progress does not: return from the handler, and let the
// next attempt read it.
//
// job is the handler's own. When another runner owns it by now, or it has ended,
// nothing is written and errors.Is tells [ErrLeaseLost]: return the error, so
// that the transaction rolls back and with it all else that it wrote. A
// cancellation that was asked for does not stop it; the handler's context does.
// Other errors are those of [Queue.Insert]. Under REPEATABLE READ or
// SERIALIZABLE it may fail with SQLSTATE 40001, since the lease is renewed
// beside it.
//
// Until the transaction ends, the job's row is locked: nobody takes the job
// over, but its lease cannot be renewed and a cancellation has to wait. So keep
// the transaction well below the lease, and call SaveProgress last in it.
func (q *Queue) SaveProgress(ctx context.Context, tx pgx.Tx, job *Job, progress any) error {
	operation := fmt.Sprintf("save the progress of job %d", job.ID)
	encoded, err := encodeJSON("progress", progress)
	if err != nil {
		return fmt.Errorf("delivery: %s: %w", operation, err)
	}
	if tx == nil {
		return fmt.Errorf("delivery: %s: %w: it is nil", operation, ErrTxUnusable)
	}
	if encoded == "null" {
		encoded = ""
	}
	if err := q.store.saveProgress(ctx, tx, leaseKey{job.ID, job.LeaseNumber}, nilIfZero(encoded)); err != nil {
		return q.store.explain(operation, err)
	}
	job.Progress = nil
	if encoded != "" {
		job.Progress = json.RawMessage(encoded)
	}
	return nil
}
