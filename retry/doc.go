// Package retry decides whether and when a failed thing runs again: the
// strategies, the registry that holds one for each job type, and the errors by
// which a job says "never again" or "later, and at no cost". It does not run
// or store anything; the runner of package delivery obeys it.
//
// # Counting
//
// A strategy is asked with the job's retry_count as it stood when the attempt
// failed, before it is raised: 0 after the first run. With a maximum of 5, a
// job runs at most six times: once, and five retries.
//
// # Errors
//
// A handler that returns a plain error is retried as its strategy says. One
// that returns [Permanent] is not retried at all. One that returns [After]
// comes back when it asked to, and spends no retry.
package retry
