// Package delivery keeps durable jobs in PostgreSQL: a job that was written in
// a committed transaction runs until it has ended, in whatever process lives.
// It does not promise that a job runs only once: a process can die after the
// work and before the record of it, so handlers must be idempotent or tolerate
// a repeat. (One e-mail for each business key is what package delivery/mail
// adds.)
//
// # Parts
//
// [Queue] is the outbox: [Queue.Insert] writes a job through the host's own
// transaction, in one INSERT, and the job exists if and only if that
// transaction commits. [Runner] claims due jobs and calls their handlers; any
// number of processes may run one, and a process may only publish. The seed
// documents' JobExecutor is the Runner, and their RetryScheduler is the
// next_retry_at that the Runner obeys.
//
// # States
//
//	           insert                     claim
//	(nothing) ────────▶ pending ─────────────────────────▶ running
//	                       ▲   retry, "after", release        │ │
//	                       └──────────────────────────────────┘ │
//	                       │ cancel                             │ handler returned, or cannot
//	                       ▼                                    ▼
//	                  cancelled            completed | failed | cancelled
//
// A claim is a lease with a fencing number, the job's lease number, which
// rises by one at every claim and never falls. Renewal, completion, retry and
// failure all compare it; when it is not the job's any more, somebody else
// owns the job, and the late result is dropped and counted, never written. A
// lease that ends without a renewal makes the job due again; that spends no
// retry, but twenty in a row make the job failed, since it seems to kill its
// workers. In the first lease time after a restart of PostgreSQL, after an error
// of the database, and after its own start, a runner takes no lease over: its
// owner may have been unable to renew it, and be alive.
//
// Times are the database's: the code sends durations, so that the clocks of
// two hosts never meet. The exceptions are JobParams.NotBefore and NotAfter,
// which are points in business time.
//
// # Order
//
// Due jobs of a type are claimed by priority and then by their due time; types
// do not wait for each other, as each has slots of its own. Tenants share the
// slots of a type in that order, so that many due jobs of one tenant delay those
// of another of the same type and priority. Nothing else is ordered: jobs run
// beside each other, in any number of processes.
//
// # What a handler returns
//
//	nil                   completed
//	Skip(reason)          completed, with the reason on record
//	retry.Permanent(err)  failed at once
//	retry.After(d, err)   pending again after d; spends no retry
//	any other error       retried as the type's strategy says, failed when it
//	                      says no more; a panic and an exceeded time limit
//	                      count alike
//
// A handler whose context ended because the job was cancelled makes the job
// cancelled by returning an error, and completed by returning nil. One that
// was interrupted by the runner's stop has its job released: pending, due at
// once, no retry spent.
//
// # Fan-out
//
// A handler that makes many jobs out of one writes them in batches: it reads the
// next thousand things behind its cursor and then, in one short transaction of
// [Queue.BeginFunc], writes their jobs with [Queue.InsertMany] and the new
// cursor with [Queue.SaveProgress]. Wherever it is cut, the next attempt finds
// the cursor of the last committed batch in Job.Progress and goes on behind it:
// nothing gets a second job, and nothing is left out. A worker that has lost its
// lease cannot commit a batch, as SaveProgress compares the fencing number. The
// children run from the first commit on, while the rest is being written. An
// attempt that exceeds its [JobType.TimeLimit] spends a retry, so give the type
// one that is long enough. See the example.
package delivery
