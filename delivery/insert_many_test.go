package delivery_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/pgtest"
)

// insertMany commits jobs without waking anybody.
func insertMany(t testing.TB, pool *pgxpool.Pool, queue *delivery.Queue, jobs ...delivery.JobParams) []delivery.Inserted {
	t.Helper()
	var inserted []delivery.Inserted
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
		inserted, err = queue.InsertMany(t.Context(), tx, jobs)
		return err
	})
	require.NoError(t, err)
	require.Len(t, inserted, len(jobs))
	return inserted
}

// assertInsertManyKeepsEveryField compares what InsertMany writes with what
// Insert does, for jobs that have every field, none, and hostile texts.
func assertInsertManyKeepsEveryField(t *testing.T, pool *pgxpool.Pool, queue *delivery.Queue) {
	t.Helper()
	notBefore := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	jobs := []delivery.JobParams{{Type: "plain"}}
	for _, hostile := range []string{`it's`, `"quoted"`, `{a,b}`, `NULL`, `null`, `\`, `\\"`, `$1`, `'); DROP TABLE x; --`, "line\nand\ttab", " blank ", "ñ 😀", "\u200b"} {
		jobs = append(jobs, delivery.JobParams{
			Type: hostile, Tenant: hostile, Payload: map[string]string{hostile: hostile}, PayloadVersion: 3,
			UniqueKey: hostile, Priority: delivery.PriorityHigh, MaxRetries: -1,
			NotBefore: notBefore, NotAfter: notBefore.Add(time.Hour), CreatedBy: hostile,
		}, delivery.JobParams{Type: "plain", Payload: hostile, Priority: delivery.PriorityLow, NotBefore: notBefore.In(time.FixedZone("x", -3*3600))})
	}
	for i, inserted := range insertMany(t, pool, queue, jobs...) {
		many, err := queue.GetJob(t.Context(), inserted.ID)
		require.NoError(t, err)
		exec(t, pool, "DELETE FROM buzon.outbox_jobs WHERE id = $1", inserted.ID)
		one, err := queue.GetJob(t.Context(), insert(t, pool, queue, jobs[i]))
		require.NoError(t, err)
		if jobs[i].NotBefore.IsZero() {
			assert.Equal(t, many.CreatedAt, many.NextRetryAt, "due at once")
			one.NextRetryAt = many.NextRetryAt
		}
		one.ID, one.CreatedAt = many.ID, many.CreatedAt
		assert.Equal(t, one, many)
	}
}

// A call's duplicates, of jobs that were there and of each other, have the ids
// of the active ones, and the results stand in the order of the jobs.
func TestInsertManyDuplicates(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	there := insert(t, pool, queue, delivery.JobParams{Type: "a", Tenant: "norte", UniqueKey: "there"})
	ended := insert(t, pool, queue, delivery.JobParams{Type: "a", Tenant: "norte", UniqueKey: "ended"})
	_, err := queue.Cancel(t.Context(), ended, "ana", "")
	require.NoError(t, err)

	job := func(jobType, tenant, key string) delivery.JobParams {
		return delivery.JobParams{Type: jobType, Tenant: tenant, UniqueKey: key}
	}
	got := insertMany(t, pool, queue,
		job("a", "norte", "z"),
		job("a", "norte", "there"),
		job("a", "norte", ""),
		job("a", "norte", "z"),
		job("a", "norte", "ended"),
		job("a", "sur", "there"),
		job("b", "norte", "there"),
		job("a", "norte", "there"),
		job("a", "norte", ""),
		job("a", "norte", "z"),
		job("a", "sur", "there"),
	)
	duplicateOf := map[int]int64{1: there, 3: got[0].ID, 7: there, 9: got[0].ID, 10: got[5].ID}
	ids := map[int64]bool{there: true, ended: true}
	for i, inserted := range got {
		if id, ok := duplicateOf[i]; ok {
			assert.Equal(t, delivery.Inserted{ID: id, Duplicate: true}, inserted, "jobs[%d]", i)
			continue
		}
		assert.False(t, inserted.Duplicate, "jobs[%d]", i)
		assert.False(t, ids[inserted.ID], "jobs[%d] has an id of its own", i)
		ids[inserted.ID] = true
	}
	assert.Equal(t, 7, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs"))
	assert.Equal(t, 1, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs WHERE id = $1 AND tenant = 'sur'", got[5].ID))
	assert.Equal(t, 1, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs WHERE id = $1 AND job_type = 'b'", got[6].ID))
}

// Each id is that of the job in its place, for one job and for as many as a
// call takes.
func TestInsertManyKeepsTheOrder(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 10_000} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			pool := pgtest.New(t)
			queue := newQueue(t, pool)
			var jobs []delivery.JobParams
			for i := range n {
				params := delivery.JobParams{Type: []string{"a", "b"}[i%2], Payload: i}
				if i%3 == 0 {
					params.UniqueKey = fmt.Sprint(n - i)
				}
				jobs = append(jobs, params)
			}
			first := insertMany(t, pool, queue, jobs...)
			second := insertMany(t, pool, queue, jobs...)
			payloads := payloadsByID(t, pool)
			plain := int64(0)
			for i, params := range jobs {
				require.Equal(t, i, payloads[first[i].ID])
				require.Equal(t, i, payloads[second[i].ID])
				require.False(t, first[i].Duplicate)
				require.Equal(t, params.UniqueKey != "", second[i].Duplicate)
				require.Equal(t, second[i].Duplicate, second[i].ID == first[i].ID)
				if params.UniqueKey == "" {
					require.Less(t, plain, first[i].ID, "the table has them in their order, too")
					plain = first[i].ID
				}
			}
		})
	}
}

func payloadsByID(t testing.TB, pool *pgxpool.Pool) map[int64]int {
	t.Helper()
	rows, err := pool.Query(t.Context(), "SELECT id, payload::int FROM buzon.outbox_jobs")
	require.NoError(t, err)
	payloads := map[int64]int{}
	var id int64
	var n int
	_, err = pgx.ForEachRow(rows, []any{&id, &n}, func() error {
		payloads[id] = n
		return nil
	})
	require.NoError(t, err)
	return payloads
}

// Faults are found before the database is touched, and named with their place.
func TestInsertManyRefusesBadParams(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	good := delivery.JobParams{Type: "a"}
	big := delivery.JobParams{Type: "a", Payload: strings.Repeat("x", 1<<20-2)}
	for want, jobs := range map[string][]delivery.JobParams{
		`insert 2 jobs: jobs[1] of type "": Type is empty`:                 {good, {}},
		`jobs[0] of type "a": Payload holds a NUL`:                         {{Type: "a", Payload: "a\x00b"}, good, {}},
		`jobs[2] of type "a": Payload holds half of a surrogate`:           {good, good, {Type: "a", Payload: json.RawMessage(`"\ud83d"`)}},
		`jobs[1] of type "a": Tenant holds a NUL`:                          {good, {Type: "a", Tenant: "\x00"}},
		`jobs[1] of type "a": UniqueKey is not valid`:                      {good, {Type: "a", UniqueKey: "\xff"}},
		`insert 10001 jobs: at most 10000 are allowed in one call; split`:  make([]delivery.JobParams, 10_001),
		`up to jobs[64] have 68157440 bytes; at most 67108864 are allowed`: repeat(big, 70),
	} {
		err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
			_, err := queue.InsertMany(t.Context(), tx, jobs)
			require.ErrorContains(t, err, want)
			_, err = tx.Exec(t.Context(), "SELECT 1")
			return err
		})
		require.NoError(t, err, "the transaction stays usable")
	}
	assert.Zero(t, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs"))
}

func repeat(params delivery.JobParams, n int) []delivery.JobParams {
	jobs := make([]delivery.JobParams, n)
	for i := range jobs {
		jobs[i] = params
	}
	return jobs
}

func TestInsertManyIntoUnusableTransactions(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	jobs := repeat(delivery.JobParams{Type: "a"}, 2)
	_, err := queue.InsertMany(t.Context(), nil, jobs)
	require.ErrorIs(t, err, delivery.ErrTxUnusable)
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, tx.Rollback(t.Context()))
	_, err = queue.InsertMany(t.Context(), tx, jobs)
	require.ErrorIs(t, err, delivery.ErrTxUnusable)

	inserted, err := queue.InsertMany(t.Context(), tx, nil)
	require.NoError(t, err, "no jobs are no statement")
	assert.Empty(t, inserted)

	err = queue.BeginFunc(t.Context(), func(tx pgx.Tx) error {
		_, err := queue.InsertMany(t.Context(), tx, jobs)
		require.NoError(t, err)
		return errBroken
	})
	require.ErrorIs(t, err, errBroken)
	assert.Zero(t, count(t, pool, "SELECT count(*) FROM buzon.outbox_jobs"))
}

// Calls that share keys, each in an order of its own, wait for each other and
// do not deadlock; each key's job is written by one of them.
func TestInsertManyUnderContention(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	const writers, keys, rounds = 8, 300, 5
	for round := range rounds {
		results := make([]map[string]delivery.Inserted, writers)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				var jobs []delivery.JobParams
				for _, k := range rand.Perm(keys) {
					jobs = append(jobs, delivery.JobParams{Type: "a", Tenant: fmt.Sprint(k % 7), UniqueKey: fmt.Sprint(round, "/", k)})
				}
				results[w] = map[string]delivery.Inserted{}
				err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
					inserted, err := queue.InsertMany(t.Context(), tx, jobs)
					for i, one := range inserted {
						results[w][jobs[i].UniqueKey] = one
					}
					return err
				})
				assert.NoError(t, err)
			})
		}
		wg.Wait()
		for key, first := range results[0] {
			created := 0
			for _, result := range results {
				assert.Equal(t, first.ID, result[key].ID, key)
				if !result[key].Duplicate {
					created++
				}
			}
			assert.Equal(t, 1, created, key)
		}
	}
}

func TestInsertManyWakesAfterTheCommit(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	queue := newQueue(t, pool)
	ran := startedRunner(t, queue,
		func() { insert(t, pool, queue, delivery.JobParams{Type: "a"}) },
		func(c *delivery.RunnerConfig) { c.NoListen = true })
	var inserted []delivery.Inserted
	err := queue.BeginFunc(t.Context(), func(tx pgx.Tx) (err error) {
		inserted, err = queue.InsertMany(t.Context(), tx, []delivery.JobParams{{Type: "other"}, {Type: "a"}})
		return err
	})
	require.NoError(t, err)
	assert.Equal(t, inserted[1].ID, await(t, ran))
}
