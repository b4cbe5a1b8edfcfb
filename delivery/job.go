package delivery

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/retry"
)

// A State is where a job stands.
type State string

// The states of a job. The first two are active, the others final.
const (
	StatePending   State = "pending"
	StateRunning   State = "running"
	StateCompleted State = "completed"
	StateFailed    State = "failed" // retries exhausted, or a permanent error
	StateCancelled State = "cancelled"
)

// Final reports whether a job in this state has ended.
func (s State) Final() bool { return s != StatePending && s != StateRunning }

// A Priority orders the due jobs of one type. A higher one is always claimed
// first, so a steady stream of it starves the lower ones.
type Priority int

// The priorities; the zero value is the normal one.
const (
	PriorityNormal Priority = 0
	PriorityHigh   Priority = 1
	PriorityLow    Priority = -1
)

// column returns the priority as the table holds it: 1 is first.
func (p Priority) column() int16 { return int16(2 - p) } //nolint:gosec // Checked to be -1 to 1.

func priorityFromColumn(n int16) Priority { return Priority(2 - n) }

// A Job is one row of the outbox, waiting, running or ended. Zero times mean
// "not yet" or "never".
type Job struct {
	ID             int64
	Type           string
	Tenant         string
	Payload        json.RawMessage
	PayloadVersion int
	Progress       json.RawMessage // what the handler last saved with [Queue.SaveProgress]; nil for nothing
	UniqueKey      string          // empty for none
	Priority       Priority
	CreatedBy      string // who asked for it, where the writer said so
	CreatedAt      time.Time

	State       State
	RetryCount  int // retries spent so far
	MaxRetries  int // retries allowed; 0 means none
	NextRetryAt time.Time
	NotAfter    time.Time
	StartedAt   time.Time // when the last attempt began
	FinishedAt  time.Time
	LastError   string
	SkipReason  string // why a completed job had nothing to do

	// LeaseNumber is the fencing number: how often the job was claimed. A
	// handler that sees more than 1 follows an earlier attempt, which may
	// have done part of the work.
	LeaseNumber int64
	LeaseUntil  time.Time
	LeaseOwner  string // the name of the runner
	LostLeases  int    // leases that ended without a result, in a row

	CancelRequestedAt time.Time
	CancelledBy       string
	CancelReason      string
}

// Decode reads the payload into dst, for a handler that understands payloads
// up to the given version. A newer one was written by a newer process of a
// rolling deployment: the error then puts the job back for a minute, without
// spending a retry, for such a process to take. A payload that does not fit
// dst is a permanent error.
func (j *Job) Decode(version int, dst any) error {
	if j.PayloadVersion > version {
		return retry.After(time.Minute, fmt.Errorf("delivery: job %d: payload version %d is newer than this process knows (%d)",
			j.ID, j.PayloadVersion, version))
	}
	if err := json.Unmarshal(j.Payload, dst); err != nil {
		return retry.Permanent(fmt.Errorf("delivery: job %d: payload of type %q: %w", j.ID, j.Type, err))
	}
	return nil
}
