package delivery

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype/zeronull"
)

// db is what the store needs of a pool, a connection or a transaction.
type db interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// store holds the package's SQL, for one schema. Every statement names the
// schema and its columns, so that no search path and no later migration can
// change what it means. JSON travels as text and durations as microseconds,
// which every query execution mode of pgx can send.
type store struct {
	schema  string
	channel string // of LISTEN and NOTIFY
	sql     statements
}

// statements are the texts with the schema filled in.
type statements struct {
	probe, insert, insertUnique, findUnique            string
	insertMany, findMany, saveProgress                 string
	active, get, lock, cancelNow, requestCancel, sweep string
	claim, renew, cancelled                            string
	finish, putBack, fate                              string
	retryNow, revive, deleteOld, due                   string
}

// activeColumns and endedColumns are scanned by scanJob, in this order.
const (
	activeColumns = `id, job_type, tenant, payload::text, payload_version, progress::text, unique_key, priority, created_by, created_at,
		state, retry_count, max_retries, next_retry_at, not_after, started_at, NULL::timestamptz, last_error, NULL::text,
		lease_number, lease_until, lease_owner, lost_leases, cancel_requested_at, cancelled_by, cancel_reason`
	endedColumns = `id, job_type, tenant, payload::text, payload_version, progress::text, unique_key, priority, created_by, created_at,
		state, retry_count, max_retries, NULL::timestamptz, not_after, started_at, finished_at, last_error, skip_reason,
		lease_number, NULL::timestamptz, lease_owner, lost_leases, NULL::timestamptz, cancelled_by, cancel_reason`

	// keptColumns go from the active table to the history as they are.
	keptColumns = `id, job_type, tenant, payload, payload_version, progress, unique_key, priority, created_by, created_at,
		retry_count, max_retries, not_after, started_at, lease_number, lease_owner, lost_leases`

	// newColumns are what a job is written with, and ifFree passes over one
	// whose unique key an active job has.
	newColumns = `job_type, tenant, payload, payload_version, unique_key, priority, created_by,
		max_retries, next_retry_at, not_after`
	ifFree = `ON CONFLICT (tenant, job_type, unique_key) WHERE unique_key IS NOT NULL DO NOTHING`
)

// takeOver is the condition under which a running job whose lease has ended
// (due_at tells) may be claimed: PostgreSQL has been up for one lease time,
// since owners could not renew while it was down (contract, section 3), and the
// claimer itself has seen it up for as long ($CALM), since recovery from a
// crash comes after the start, and a failover without one.
const takeOver = `(j.state = 'pending' OR $CALM AND now() >= pg_postmaster_start_time() + $LEASE * interval '1 microsecond')`

// duePriority returns a CTE of the claim: the due jobs of one type and
// priority, as many as the ones before it left room for. Asking for one
// priority at a time lets the index stop at the first job that is not due,
// however many are waiting for later.
func duePriority(name, priority, room string) string {
	return name + ` AS MATERIALIZED (
			SELECT j.id FROM {jobs} j
			WHERE j.job_type = w.job_type AND j.priority = ` + priority + ` AND j.due_at <= now() AND ` + takeOver + `
			ORDER BY j.due_at, j.id LIMIT ` + room + `
			FOR UPDATE SKIP LOCKED)`
}

func newStore(schema string) *store {
	fill := strings.NewReplacer(
		"{jobs}", pgx.Identifier{schema, "outbox_jobs"}.Sanitize(),
		"{history}", pgx.Identifier{schema, "outbox_job_history"}.Sanitize(),
		"{active}", activeColumns, "{ended}", endedColumns, "{kept}", keptColumns,
		"{new}", newColumns, "{if free}", ifFree,
		"$LEASE", "$3::bigint", "$CALM", "$5::boolean",
	).Replace
	// A channel's name is cut at 63 bytes, so long schema names would collide.
	sum := sha256.Sum256([]byte(schema))
	return &store{schema: schema, channel: "buzon_" + hex.EncodeToString(sum[:8]), sql: statements{
		probe: fill(`SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean,
			(SELECT count(*) FROM (SELECT {active} FROM {jobs} LIMIT 0) a) +
			(SELECT count(*) FROM (SELECT {ended} FROM {history} LIMIT 0) e)`),
		insert: fill(`INSERT INTO {jobs} ({new})
			VALUES ($1, $2, $3::text::jsonb, $4, $5, $6, $7, $8, GREATEST(now(), $9), $10)
			RETURNING id`),
		insertUnique: fill(`INSERT INTO {jobs} ({new})
			VALUES ($1, $2, $3::text::jsonb, $4, $5, $6, $7, $8, GREATEST(now(), $9), $10)
			{if free}
			RETURNING id`),
		findUnique: fill(`SELECT id FROM {jobs} WHERE job_type = $1 AND tenant = $2 AND unique_key = $3`),
		// The identity is drawn row by row behind the ORDER BY, so that the ids
		// rise in the order of the arrays. RETURNING cannot tell a row's place in
		// them, and drawing the ids first would need a right on the sequence.
		insertMany: fill(`WITH made AS (
				INSERT INTO {jobs} ({new})
				SELECT r.job_type, r.tenant, r.payload::jsonb, r.payload_version, r.unique_key, r.priority, r.created_by,
					r.max_retries, GREATEST(now(), r.not_before), r.not_after
				FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[], $6::smallint[], $7::text[],
					$8::int[], $9::timestamptz[], $10::timestamptz[]) WITH ORDINALITY
					AS r (job_type, tenant, payload, payload_version, unique_key, priority, created_by,
						max_retries, not_before, not_after, place)
				ORDER BY r.place
				{if free}
				RETURNING id, job_type, tenant, unique_key)
			SELECT id, job_type, tenant, unique_key FROM made ORDER BY id`),
		// One probe of the index for each key: a join may read the whole table.
		findMany: fill(`SELECT found.id, r.job_type, r.tenant, r.unique_key
			FROM unnest($1::text[], $2::text[], $3::text[]) AS r (job_type, tenant, unique_key)
			CROSS JOIN LATERAL (
				SELECT j.id FROM {jobs} j
				WHERE j.job_type = r.job_type AND j.tenant = r.tenant AND j.unique_key = r.unique_key LIMIT 1) found`),
		saveProgress: fill(`UPDATE {jobs} SET progress = $3::text::jsonb
			WHERE id = $1 AND lease_number = $2 AND state = 'running'`),

		get:    fill(`SELECT {active} FROM {jobs} WHERE id = $1 UNION ALL SELECT {ended} FROM {history} WHERE id = $1`),
		active: fill(`SELECT {active} FROM {jobs} WHERE job_type = $1 AND tenant = $2 AND unique_key = $3`),
		lock:   fill(`SELECT state FROM {jobs} WHERE id = $1 FOR UPDATE`),
		cancelNow: fill(`WITH gone AS (DELETE FROM {jobs} WHERE id = $1 RETURNING {kept}, last_error, cancelled_by, cancel_reason)
			INSERT INTO {history} ({kept}, last_error, state, cancelled_by, cancel_reason)
			SELECT {kept}, last_error, 'cancelled', COALESCE(cancelled_by, $2), COALESCE(cancel_reason, $3) FROM gone`),
		requestCancel: fill(`UPDATE {jobs} SET cancel_requested_at = now(), cancelled_by = $2, cancel_reason = $3
			WHERE id = $1 AND cancel_requested_at IS NULL`),
		sweep: fill(`WITH gone AS (DELETE FROM {jobs} WHERE id IN (
				SELECT j.id FROM {jobs} j
				WHERE j.cancel_requested_at IS NOT NULL AND j.due_at <= now() AND ` + strings.NewReplacer("$LEASE", "$1::bigint", "$CALM", "$2::boolean").Replace(takeOver) + `
				LIMIT 100 FOR UPDATE SKIP LOCKED)
				RETURNING {kept}, last_error, cancelled_by, cancel_reason)
			INSERT INTO {history} ({kept}, last_error, cancelled_by, cancel_reason, state)
			SELECT {kept}, last_error, cancelled_by, cancel_reason, 'cancelled' FROM gone`),

		claim: fill(`WITH due AS (
			SELECT picked.id
			FROM unnest($1::text[], $2::int[]) AS w (job_type, room)
			CROSS JOIN LATERAL (
				WITH ` + duePriority("high", "1", "w.room") + `,
				` + duePriority("normal", "2", "w.room - (SELECT count(*) FROM high)") + `,
				` + duePriority("low", "3", "w.room - (SELECT count(*) FROM high) - (SELECT count(*) FROM normal)") + `
				SELECT id FROM high UNION ALL SELECT id FROM normal UNION ALL SELECT id FROM low
			) picked
		)
		UPDATE {jobs} AS j SET
			state = 'running', started_at = now(),
			lost_leases = CASE j.state WHEN 'running' THEN j.lost_leases + 1 ELSE j.lost_leases END,
			lease_number = j.lease_number + 1, lease_owner = $4,
			lease_until = now() + $LEASE * interval '1 microsecond'
		WHERE j.id = ANY (ARRAY(SELECT id FROM due))
		RETURNING ` + qualified("j", activeColumns) + `, j.not_after <= now()`),
		// A row that somebody has locked is not waited for: it is renewed the
		// next time, and does not hold up the others. Whether a lease is still
		// owned is read, not concluded from what was updated.
		renew: fill(`WITH r AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS r (id, lease_number)),
			mine AS (
				SELECT j.id FROM {jobs} j JOIN r ON j.id = r.id AND j.lease_number = r.lease_number
				WHERE j.state = 'running' FOR UPDATE OF j SKIP LOCKED),
			renewed AS (
				UPDATE {jobs} SET lease_until = now() + $LEASE * interval '1 microsecond'
				WHERE id = ANY (ARRAY(SELECT id FROM mine)))
			SELECT j.id, j.lease_number, j.cancel_requested_at IS NOT NULL, j.cancelled_by, j.cancel_reason
			FROM {jobs} j JOIN r ON j.id = r.id AND j.lease_number = r.lease_number WHERE j.state = 'running'`),
		cancelled: fill(`SELECT j.id, j.lease_number, true, j.cancelled_by, j.cancel_reason
			FROM unnest($1::bigint[], $2::bigint[]) AS r (id, lease_number)
			JOIN {jobs} j ON j.id = r.id AND j.lease_number = r.lease_number
			WHERE j.state = 'running' AND j.cancel_requested_at IS NOT NULL`),
		finish: fill(`WITH r AS (
				SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[])
					AS r (id, lease_number, end_state, error, reason)),
			mine AS (
				SELECT j.id FROM {jobs} j JOIN r ON j.id = r.id AND j.lease_number = r.lease_number
				WHERE j.state = 'running' FOR UPDATE OF j SKIP LOCKED),
			gone AS (
				DELETE FROM {jobs} WHERE id = ANY (ARRAY(SELECT id FROM mine))
				RETURNING {kept}, last_error, cancelled_by, cancel_reason)
			INSERT INTO {history} ({kept}, state, last_error, skip_reason, cancelled_by, cancel_reason)
			SELECT ` + qualified("g", keptColumns) + `, r.end_state, COALESCE(NULLIF(r.error, ''), g.last_error), NULLIF(r.reason, ''),
				g.cancelled_by, g.cancel_reason
			FROM gone g JOIN r ON g.id = r.id RETURNING id`),
		putBack: fill(`WITH r AS (
				SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::bigint[], $5::text[])
					AS r (id, lease_number, spent, delay, error)),
			mine AS (
				SELECT j.id FROM {jobs} j JOIN r ON j.id = r.id AND j.lease_number = r.lease_number
				WHERE j.state = 'running' FOR UPDATE OF j SKIP LOCKED)
			UPDATE {jobs} AS j SET
				state = 'pending', lease_until = NULL, lost_leases = 0,
				retry_count = j.retry_count + r.spent,
				next_retry_at = CASE WHEN j.cancel_requested_at IS NULL THEN now() + r.delay * interval '1 microsecond' ELSE now() END,
				last_error = COALESCE(NULLIF(r.error, ''), j.last_error)
			FROM r WHERE j.id = r.id AND j.id = ANY (ARRAY(SELECT id FROM mine))
			RETURNING j.id`),
		fate: fill(`WITH r AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS r (id, lease_number))
			SELECT h.id, true FROM {history} h JOIN r ON h.id = r.id AND h.lease_number = r.lease_number
			UNION ALL
			SELECT j.id, j.state = 'pending' FROM {jobs} j JOIN r ON j.id = r.id AND j.lease_number = r.lease_number`),

		retryNow: fill(`UPDATE {jobs} SET next_retry_at = now() WHERE id = $1 AND state = 'pending'`),
		revive: fill(`WITH gone AS (DELETE FROM {history} WHERE id = $1 RETURNING {kept}, last_error)
			INSERT INTO {jobs} (id, job_type, tenant, payload, payload_version, progress, unique_key, priority, created_by, created_at,
				max_retries, started_at, lease_number, last_error)
			SELECT id, job_type, tenant, payload, payload_version, progress, unique_key, priority, created_by, created_at,
				max_retries, started_at, lease_number, last_error FROM gone`),
		deleteOld: fill(`DELETE FROM {history} WHERE id IN (
			SELECT id FROM {history} WHERE finished_at < now() - $1::bigint * interval '1 microsecond'
			ORDER BY finished_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`),

		due: fill(`WITH RECURSIVE types AS (
				(SELECT job_type FROM {jobs} ORDER BY job_type LIMIT 1)
				UNION ALL
				SELECT (SELECT j.job_type FROM {jobs} j WHERE j.job_type > t.job_type ORDER BY j.job_type LIMIT 1)
				FROM types t WHERE t.job_type IS NOT NULL)
			SELECT t.job_type, COALESCE(sum(d.n), 0)::bigint,
				COALESCE(extract(epoch FROM now() - min(d.oldest)), 0)::float8
			FROM types t, generate_series(1, 3) p (priority), LATERAL (
				SELECT count(*) AS n, min(s.due_at) AS oldest FROM (
					SELECT j.due_at FROM {jobs} j
					WHERE j.job_type = t.job_type AND j.priority = p.priority AND j.due_at <= now()
					ORDER BY j.due_at LIMIT $1) s) d
			WHERE t.job_type IS NOT NULL GROUP BY t.job_type`),
	}}
}

// qualified puts a table's alias before each column of a list.
func qualified(alias, columns string) string {
	parts := strings.Split(columns, ",")
	for i, part := range parts {
		if part = strings.TrimSpace(part); !strings.HasPrefix(part, "NULL") {
			part = alias + "." + part
		}
		parts[i] = part
	}
	return strings.Join(parts, ", ")
}

func scanJob(row pgx.Row, more ...any) (*Job, error) {
	var (
		j        Job
		payload  string
		progress string
		priority int16
	)
	err := row.Scan(append([]any{
		&j.ID, &j.Type, &j.Tenant, &payload, &j.PayloadVersion, (*zeronull.Text)(&progress), (*zeronull.Text)(&j.UniqueKey), &priority,
		(*zeronull.Text)(&j.CreatedBy), &j.CreatedAt,
		&j.State, &j.RetryCount, &j.MaxRetries, (*zeronull.Timestamptz)(&j.NextRetryAt), (*zeronull.Timestamptz)(&j.NotAfter),
		(*zeronull.Timestamptz)(&j.StartedAt), (*zeronull.Timestamptz)(&j.FinishedAt),
		(*zeronull.Text)(&j.LastError), (*zeronull.Text)(&j.SkipReason),
		&j.LeaseNumber, (*zeronull.Timestamptz)(&j.LeaseUntil), (*zeronull.Text)(&j.LeaseOwner), &j.LostLeases,
		(*zeronull.Timestamptz)(&j.CancelRequestedAt), (*zeronull.Text)(&j.CancelledBy), (*zeronull.Text)(&j.CancelReason),
	}, more...)...)
	if err != nil {
		return nil, err
	}
	j.Payload = json.RawMessage(payload)
	if progress != "" {
		j.Progress = json.RawMessage(progress)
	}
	j.Priority = priorityFromColumn(priority)
	return &j, nil
}

// probe fails when the tables do not fit this version or take no writes.
func (s *store) probe(ctx context.Context, q db) error {
	var readOnly bool
	var none int64
	if err := q.QueryRow(ctx, s.sql.probe).Scan(&readOnly, &none); err != nil {
		return s.explain("check the outbox tables", err)
	}
	if readOnly {
		return errors.New("delivery: check the outbox tables: the database is read-only")
	}
	return nil
}

// findTries bounds the search for the job that has a unique key: each miss
// means that it ended between the two statements.
const findTries = 10

func (s *store) insert(ctx context.Context, q db, r jobRow) (Inserted, error) {
	args := []any{
		r.jobType, r.tenant, r.payload, r.payloadVersion, r.uniqueKey, r.priority, r.createdBy,
		r.maxRetries, r.notBefore, r.notAfter,
	}
	var id int64
	if r.uniqueKey == nil {
		err := q.QueryRow(ctx, s.sql.insert, args...).Scan(&id)
		return Inserted{ID: id}, err
	}
	for range findTries {
		err := q.QueryRow(ctx, s.sql.insertUnique, args...).Scan(&id)
		if !errors.Is(err, pgx.ErrNoRows) {
			return Inserted{ID: id}, err
		}
		err = q.QueryRow(ctx, s.sql.findUnique, r.jobType, r.tenant, *r.uniqueKey).Scan(&id)
		if !errors.Is(err, pgx.ErrNoRows) {
			return Inserted{ID: id, Duplicate: true}, err
		}
	}
	return Inserted{}, ErrDuplicate
}

// insertMany writes jobs in one statement. Only keys that are taken cost more
// of them, as in insert.
func (s *store) insertMany(ctx context.Context, q db, rows []jobRow) ([]Inserted, error) {
	b := newBatch(rows)
	for range findTries {
		ids, err := s.jobIDs(ctx, q, s.sql.insertMany, b.columns()...)
		if err != nil || b.settle(ids, false) {
			return b.inserted, err
		}
		ids, err = s.jobIDs(ctx, q, s.sql.findMany, b.keys()...)
		if err != nil || b.settle(ids, true) {
			return b.inserted, err
		}
	}
	return nil, ErrDuplicate
}

// jobIDs returns the ids of jobs by their keys, those of one key in the order
// in which the statement returns them.
func (s *store) jobIDs(ctx context.Context, q db, sql string, args ...any) (map[jobKey][]int64, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	ids := map[jobKey][]int64{}
	var id int64
	var key jobKey
	_, err = pgx.ForEachRow(rows, []any{&id, &key.jobType, &key.tenant, (*zeronull.Text)(&key.unique)}, func() error {
		ids[key] = append(ids[key], id)
		return nil
	})
	return ids, err
}

// saveProgress writes what a running job has done, under its fencing number; nil
// is nothing.
func (s *store) saveProgress(ctx context.Context, q db, key leaseKey, progress *string) error {
	tag, err := q.Exec(ctx, s.sql.saveProgress, key.id, key.number, progress)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrLeaseLost
	}
	return err
}

func (s *store) get(ctx context.Context, q db, id int64) (*Job, error) {
	job, err := scanJob(q.QueryRow(ctx, s.sql.get, id))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	return job, err
}

func (s *store) findActive(ctx context.Context, q db, jobType, tenant, uniqueKey string) (*Job, error) {
	job, err := scanJob(q.QueryRow(ctx, s.sql.active, jobType, tenant, uniqueKey))
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	return job, err
}

// claimed is a job that this runner owns until its lease ends.
type claimed struct {
	*Job
	tooLate bool // its NotAfter has passed
}

// claim takes up to rooms[i] due jobs of types[i]. calm tells whether leases
// that have ended may be taken over.
func (s *store) claim(ctx context.Context, q db, types []string, rooms []int, lease time.Duration, owner string, calm bool) ([]claimed, error) {
	rows, err := q.Query(ctx, s.sql.claim, types, rooms, lease.Microseconds(), owner, calm)
	if err != nil {
		return nil, s.explain("claim jobs", err)
	}
	jobs, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (claimed, error) {
		var tooLate *bool
		job, err := scanJob(row, &tooLate)
		return claimed{Job: job, tooLate: tooLate != nil && *tooLate}, err
	})
	return jobs, s.explain("claim jobs", err)
}

// leaseKey names one claim of one job.
type leaseKey struct{ id, number int64 }

// leaseState is what is known of a lease that is still owned.
type leaseState struct {
	leaseKey
	cancelled bool
	by        string
	reason    string
}

// renew prolongs leases and returns those that are still owned.
func (s *store) renew(ctx context.Context, q db, keys []leaseKey, lease time.Duration) ([]leaseState, error) {
	ids, numbers := splitKeys(keys)
	return s.leaseStates(ctx, q, "renew leases", s.sql.renew, ids, numbers, lease.Microseconds())
}

// cancelled returns those of the leases whose jobs are to be cancelled.
func (s *store) cancelled(ctx context.Context, q db, keys []leaseKey) ([]leaseState, error) {
	ids, numbers := splitKeys(keys)
	return s.leaseStates(ctx, q, "look for cancellations", s.sql.cancelled, ids, numbers)
}

func (s *store) leaseStates(ctx context.Context, q db, operation, sql string, args ...any) ([]leaseState, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, s.explain(operation, err)
	}
	states, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (leaseState, error) {
		var l leaseState
		err := row.Scan(&l.id, &l.number, &l.cancelled, (*zeronull.Text)(&l.by), (*zeronull.Text)(&l.reason))
		return l, err
	})
	return states, s.explain(operation, err)
}

func splitKeys(keys []leaseKey) (ids, numbers []int64) {
	for _, k := range keys {
		ids = append(ids, k.id)
		numbers = append(numbers, k.number)
	}
	return ids, numbers
}

// finish ends jobs, each under its fencing number, and returns the ids of those
// that it has ended. Of the others, another runner owns the job or somebody has
// locked its row; see fates.
func (s *store) finish(ctx context.Context, q db, results []*result) (map[int64]bool, error) {
	var states, errs, reasons []string
	for _, r := range results {
		states = append(states, string(r.outcome.state()))
		errs = append(errs, r.errorText)
		reasons = append(reasons, r.skipReason)
	}
	ids, numbers := leasesOf(results)
	owned, err := s.collect(ctx, q, s.sql.finish, ids, numbers, states, errs, reasons)
	return owned, s.explain("finish jobs", err)
}

// putBack makes jobs pending, each under its fencing number, and returns the
// ids of those that it has put back, like finish.
func (s *store) putBack(ctx context.Context, q db, results []*result) (map[int64]bool, error) {
	var spent []int32
	var delays []int64
	var errs []string
	for _, r := range results {
		var n int32
		if r.outcome == outcomeRetried {
			n = 1
		}
		spent = append(spent, n)
		delays = append(delays, r.delay.Microseconds())
		errs = append(errs, r.errorText)
	}
	ids, numbers := leasesOf(results)
	owned, err := s.collect(ctx, q, s.sql.putBack, ids, numbers, spent, delays, errs)
	return owned, s.explain("put jobs back", err)
}

// fates tells of results that were not written why: true for one that is in
// the tables already, since a commit can have succeeded although its reply was
// lost; false for one whose job is still owned, its row locked by somebody.
// What is in neither case is not in the map: another runner owns the job.
func (s *store) fates(ctx context.Context, q db, results []*result) (map[int64]bool, error) {
	ids, numbers := leasesOf(results)
	rows, err := q.Query(ctx, s.sql.fate, ids, numbers)
	if err != nil {
		return nil, s.explain("look up results", err)
	}
	fates := map[int64]bool{}
	var id int64
	var written bool
	_, err = pgx.ForEachRow(rows, []any{&id, &written}, func() error {
		fates[id] = written
		return nil
	})
	return fates, s.explain("look up results", err)
}

func leasesOf(results []*result) (ids, numbers []int64) {
	keys := make([]leaseKey, len(results))
	for i, r := range results {
		keys[i] = leaseKey{r.job.ID, r.job.LeaseNumber}
	}
	return splitKeys(keys)
}

// collect runs a statement that returns ids.
func (s *store) collect(ctx context.Context, q db, sql string, args ...any) (map[int64]bool, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	ids := map[int64]bool{}
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&id}, func() error {
		ids[id] = true
		return nil
	})
	return ids, err
}

// dueCount is how much of a type waits to be claimed.
type dueCount struct {
	jobType   string
	due       int64
	oldestAge time.Duration
}

// countDue counts at most limit due jobs of each type and priority.
func (s *store) countDue(ctx context.Context, q db, limit int) ([]dueCount, error) {
	rows, err := q.Query(ctx, s.sql.due, limit)
	if err != nil {
		return nil, s.explain("count due jobs", err)
	}
	counts, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (dueCount, error) {
		var c dueCount
		var seconds float64
		err := row.Scan(&c.jobType, &c.due, &seconds)
		c.oldestAge = time.Duration(seconds * float64(time.Second))
		return c, err
	})
	return counts, s.explain("count due jobs", err)
}

// sweepCancelled ends the jobs whose cancellation was asked for and whose
// lease has ended, of any type: nobody needs to know how to run them.
func (s *store) sweepCancelled(ctx context.Context, q db, lease time.Duration, calm bool) (int64, error) {
	tag, err := q.Exec(ctx, s.sql.sweep, lease.Microseconds(), calm)
	return tag.RowsAffected(), s.explain("end cancelled jobs", err)
}

// deleteOld drops one batch of the history.
func (s *store) deleteOld(ctx context.Context, q db, age time.Duration) (int64, error) {
	tag, err := q.Exec(ctx, s.sql.deleteOld, age.Microseconds())
	return tag.RowsAffected(), s.explain("delete old jobs", err)
}
