package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/retry"
)

// An Outbox writes events through the host's transactions. It is safe for
// concurrent use. A process that only publishes needs nothing else of this
// package.
type Outbox struct {
	queue *delivery.Queue
}

// NewOutbox returns an outbox that writes to the queue.
func NewOutbox(queue *delivery.Queue) (*Outbox, error) {
	if queue == nil {
		return nil, errors.New("notify: outbox: the queue is nil")
	}
	return &Outbox{queue: queue}, nil
}

// PublishOptions are what [Outbox.PublishJob] can be told besides the event.
// The zero value is what [Outbox.Publish] uses.
type PublishOptions struct {
	// NotBefore is the earliest time to handle the event. Zero means at once.
	NotBefore time.Time
	// NotAfter is the latest: an event that is taken up later fails without
	// being handled. Zero means that there is none.
	NotAfter time.Time
	// CreatedBy is who caused the event, kept with the job for the record. May
	// be empty.
	CreatedBy string
}

// Publish writes an event through the host's transaction, whose context ctx is:
// one INSERT, and nothing else. The e-mail goes out if, and only if, the
// transaction commits; let delivery.BeginFunc commit it, and a runner that is
// waiting starts at once.
//
// An event that is not valid is refused before the database is touched, so that
// the transaction remains usable. An error of the database aborts it, as any
// failed statement does. errors.Is tells delivery.ErrTxUnusable and
// delivery.ErrNotMigrated.
func (o *Outbox) Publish(ctx context.Context, tx pgx.Tx, event Event) error {
	_, err := o.PublishJob(ctx, tx, event, PublishOptions{})
	return err
}

// PublishJob is [Outbox.Publish] with options. It returns the job, to be looked
// up by delivery's Queue.GetJob.
func (o *Outbox) PublishJob(ctx context.Context, tx pgx.Tx, event Event, options PublishOptions) (delivery.Inserted, error) {
	if event == nil {
		return delivery.Inserted{}, errors.New("notify: publish: the event is nil")
	}
	params, err := jobOf(event, options)
	if err != nil {
		return delivery.Inserted{}, err
	}
	inserted, err := o.queue.Insert(ctx, tx, params)
	if err != nil {
		return delivery.Inserted{}, fmt.Errorf("notify: publish %s of tenant %q: %w", params.Type, params.Tenant, err)
	}
	return inserted, nil
}

// publishMany writes events in one statement. An event that is not valid stays
// so.
func (o *Outbox) publishMany(ctx context.Context, tx pgx.Tx, events []Event) ([]delivery.Inserted, error) {
	all := make([]delivery.JobParams, len(events))
	for i, event := range events {
		params, err := jobOf(event, PublishOptions{})
		if err != nil {
			return nil, retry.Permanent(err)
		}
		all[i] = params
	}
	return o.queue.InsertMany(ctx, tx, all)
}

// jobOf returns the job of an event, which it checks.
func jobOf(event Event, options PublishOptions) (delivery.JobParams, error) {
	kept := event.Type()
	if err := event.Validate(); err != nil {
		return delivery.JobParams{}, fmt.Errorf("notify: publish %s: %w", kept.JobType, err)
	}
	return delivery.JobParams{
		Type:           kept.JobType,
		Tenant:         event.Tenant(),
		Payload:        event,
		PayloadVersion: kept.version(),
		Priority:       kept.Priority,
		NotBefore:      options.NotBefore,
		NotAfter:       options.NotAfter,
		CreatedBy:      options.CreatedBy,
	}, nil
}
