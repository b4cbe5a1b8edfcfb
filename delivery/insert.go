package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/internal/pgtext"
)

// JobParams describe a job to be written.
type JobParams struct {
	// Type chooses the handler. Required.
	Type string

	// Tenant is whose job it is. May be empty.
	Tenant string

	// Payload is stored as JSON. It should hold identifiers only: handlers
	// load fresh state when they run. nil means an empty object. A
	// json.RawMessage is stored as PostgreSQL's jsonb keeps it: without white
	// space, and with the last of two equal keys.
	Payload any

	// PayloadVersion is the version of the payload's form; see [Job.Decode].
	// Defaults to 1.
	PayloadVersion int

	// UniqueKey, when not empty, lets at most one active job of the type and
	// tenant have that key.
	UniqueKey string

	// Priority orders the due jobs of a type. Defaults to PriorityNormal.
	Priority Priority

	// MaxRetries is how often the job is retried. Negative means not at all.
	// Defaults to the queue's.
	MaxRetries int

	// NotBefore is the earliest start. Zero means at once.
	NotBefore time.Time

	// NotAfter is the latest start: a job that is claimed later, the first
	// time or again, fails without running. Zero means that there is none.
	NotAfter time.Time

	// CreatedBy is who asked for the job, kept for the record. May be empty.
	CreatedBy string
}

// Inserted tells what became of a job that was to be written.
type Inserted struct {
	// ID is the new job's or, when Duplicate, that of the active job which
	// has the unique key already.
	ID        int64
	Duplicate bool
}

// Insert writes a job through the host's transaction, whose context ctx is:
// one INSERT, and nothing else unless the unique key is taken. The job exists
// when, and only when, the transaction commits.
//
// Parameters are checked before the database is touched, so that a fault in
// them leaves the transaction usable. An error of the database aborts it, as
// any failed statement does. errors.Is tells [ErrTxUnusable] and
// [ErrNotMigrated].
//
// A unique key that an uncommitted transaction has just taken makes Insert
// wait for that transaction's end. Under REPEATABLE READ or SERIALIZABLE it
// may then fail with SQLSTATE 40001, as the host's own statements may.
func (q *Queue) Insert(ctx context.Context, tx pgx.Tx, params JobParams) (Inserted, error) {
	row, err := q.check(params)
	if err != nil {
		return Inserted{}, fmt.Errorf("delivery: insert job of type %q: %w", params.Type, err)
	}
	if tx == nil {
		return Inserted{}, fmt.Errorf("delivery: insert job of type %q: %w: it is nil", params.Type, ErrTxUnusable)
	}
	inserted, err := q.store.insert(ctx, tx, row)
	if err != nil {
		return Inserted{}, q.store.explain(fmt.Sprintf("insert job of type %q", params.Type), err)
	}
	if hooked, ok := tx.(*hookedTx); ok && !inserted.Duplicate {
		hooked.afterCommit(q, params.Type)
	}
	return inserted, nil
}

// jobRow is what an INSERT needs, checked.
type jobRow struct {
	jobType, tenant, payload string
	payloadVersion           int
	uniqueKey                *string
	priority                 int16
	maxRetries               int
	notBefore, notAfter      *time.Time
	createdBy                *string
}

// jobKey is what at most one active job can have. Jobs whose unique key is
// empty share theirs.
type jobKey struct{ jobType, tenant, unique string }

func (r jobRow) key() jobKey {
	key := jobKey{jobType: r.jobType, tenant: r.tenant}
	if r.uniqueKey != nil {
		key.unique = *r.uniqueKey
	}
	return key
}

func (q *Queue) check(p JobParams) (jobRow, error) {
	payload, payloadErr := encodePayload(p.Payload)
	version := p.PayloadVersion
	if version == 0 {
		version = 1
	}
	maxRetries := max(p.MaxRetries, 0)
	if p.MaxRetries == 0 {
		maxRetries = q.maxRetries
	}
	err := errors.Join(
		pgtext.Check("Type", p.Type, 1, 255),
		pgtext.Check("Tenant", p.Tenant, 0, 255),
		pgtext.Check("UniqueKey", p.UniqueKey, 0, 1024),
		pgtext.Check("CreatedBy", p.CreatedBy, 0, 1024),
		pgtext.CheckRange("Priority", int(p.Priority), int(PriorityLow), int(PriorityHigh)),
		pgtext.CheckRange("PayloadVersion", version, 1, math.MaxInt32),
		pgtext.CheckRange("MaxRetries", maxRetries, 0, math.MaxInt32),
		payloadErr,
	)
	if err == nil && !p.NotAfter.IsZero() && p.NotAfter.Before(p.NotBefore) {
		err = errors.New("NotAfter is before NotBefore")
	}
	return jobRow{
		jobType: p.Type, tenant: p.Tenant, payload: payload, payloadVersion: version,
		uniqueKey: nilIfZero(p.UniqueKey), priority: p.Priority.column(), maxRetries: maxRetries,
		notBefore: nilIfZero(p.NotBefore), notAfter: nilIfZero(p.NotAfter), createdBy: nilIfZero(p.CreatedBy),
	}, err
}

// maxJSON keeps payloads and progress to what they are meant for: identifiers.
// It leaves room for a selection of some 100,000 ids.
const maxJSON = 1 << 20

func encodePayload(payload any) (string, error) {
	if payload == nil {
		return "{}", nil
	}
	return encodeJSON("Payload", payload)
}

// encodeJSON returns JSON that type jsonb takes. The error names the field.
func encodeJSON(field string, value any) (string, error) {
	encoded, err := json.Marshal(value)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", field, err)
	case len(encoded) > maxJSON:
		return "", fmt.Errorf("%s has %d bytes; at most %d are allowed (store identifiers, not entities)", field, len(encoded), maxJSON)
	}
	if err := pgtext.CheckJSON(encoded); err != nil {
		return "", fmt.Errorf("%s %w", field, err)
	}
	return string(encoded), nil
}

// nilIfZero returns nil, which is NULL, for a zero value.
func nilIfZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
