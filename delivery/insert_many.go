package delivery

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Bounds of one InsertMany: jobs, and bytes of their payloads. They keep the
// statement to some seconds and its transaction short.
const (
	maxInsertJobs  = 10_000
	maxInsertBytes = 64 << 20
)

// InsertMany is [Queue.Insert] for many jobs in one INSERT: it writes them
// through the transaction, whose context ctx is, and they exist when, and only
// when, that commits. It returns what became of each, in the order given. A job
// whose unique key an active job has, or another job before it in the call, is
// a duplicate of that one; only then is there a second statement. No jobs are
// no statement.
//
// All parameters are checked before the database is touched; the error names
// the first faulty job by its index. At most 10,000 jobs and 64 MiB of payload
// are allowed in a call: split larger numbers, best over several transactions
// as the package's section on fan-out shows.
//
// Jobs are written in the order given and, after these, those with a unique key
// in the order of their keys, so that calls which share keys wait for each
// other and do not deadlock. Errors of the database are those of Insert.
func (q *Queue) InsertMany(ctx context.Context, tx pgx.Tx, jobs []JobParams) ([]Inserted, error) {
	if len(jobs) == 0 {
		return nil, nil
	}
	operation := fmt.Sprintf("insert %d jobs", len(jobs))
	rows, err := q.checkMany(jobs)
	if err != nil {
		return nil, fmt.Errorf("delivery: %s: %w", operation, err)
	}
	if tx == nil {
		return nil, fmt.Errorf("delivery: %s: %w: it is nil", operation, ErrTxUnusable)
	}
	inserted, err := q.store.insertMany(ctx, tx, rows)
	if err != nil {
		return nil, q.store.explain(operation, err)
	}
	if hooked, ok := tx.(*hookedTx); ok {
		for i, params := range jobs {
			if !inserted[i].Duplicate {
				hooked.afterCommit(q, params.Type)
			}
		}
	}
	return inserted, nil
}

// checkMany checks the jobs one by one and then together.
func (q *Queue) checkMany(jobs []JobParams) ([]jobRow, error) {
	if len(jobs) > maxInsertJobs {
		return nil, fmt.Errorf("at most %d are allowed in one call; split them", maxInsertJobs)
	}
	rows := make([]jobRow, len(jobs))
	size := 0
	for i, params := range jobs {
		row, err := q.check(params)
		if err != nil {
			return nil, fmt.Errorf("jobs[%d] of type %q: %w", i, params.Type, err)
		}
		if size += len(row.payload); size > maxInsertBytes {
			return nil, fmt.Errorf("the payloads up to jobs[%d] have %d bytes; at most %d are allowed in one call; split them", i, size, maxInsertBytes)
		}
		rows[i] = row
	}
	return rows, nil
}
