package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/retry"
)

// A FanOut turns one event of type E into an event for each id of a list that
// may be of any length, such as the purchases of a date. Its job keeps a cursor,
// which is committed together with the events that it has passed, under the
// job's fencing number: it can be cut anywhere, and goes on without writing an
// event twice or leaving one out.
type FanOut[E Event] struct {
	// IDs lists the ids of an event that follow after, as
	// [EventDates.PurchaseIDs] says. Required.
	IDs func(ctx context.Context, event E, after string) iter.Seq2[string, error]

	// Event returns the event of one id, which has a listener of its own.
	// Required.
	Event func(event E, id string) Event
}

// fanOutBatch is how many events a transaction writes: enough to make its
// commit cheap, few enough for the job's lease to be renewed in between.
const fanOutBatch = 1000

// fanOutConcurrency is how many lists a runner works on at once.
const fanOutConcurrency = 4

// fanOutProgress is where a list was left.
type fanOutProgress struct {
	After   string `json:"after"`
	Written int    `json:"written"`
}

// JobType returns the fan-out's listener, for delivery.RunnerConfig.JobTypes. It
// writes through the service's Outbox. The error joins every fault.
func (f FanOut[E]) JobType(service *MailService) (delivery.JobType, error) {
	var faults []error
	if f.IDs == nil {
		faults = append(faults, errors.New("IDs is nil"))
	}
	if f.Event == nil {
		faults = append(faults, errors.New("Event is nil"))
	}
	if service == nil || service.config.Outbox == nil {
		faults = append(faults, errors.New("the service is nil, or has no Outbox"))
	}
	if err := errors.Join(faults...); err != nil {
		var none E
		return delivery.JobType{}, fmt.Errorf("notify: fan-out of %q: %w", none.Type().JobType, err)
	}
	return f.listener(service), nil
}

func (f FanOut[E]) listener(service *MailService) delivery.JobType {
	jobType := listener(func(ctx context.Context, job *delivery.Job, event E) error { return f.run(ctx, service, job, event) })
	jobType.Concurrency = fanOutConcurrency
	return jobType
}

func (f FanOut[E]) run(ctx context.Context, s *MailService, job *delivery.Job, event E) error {
	var at fanOutProgress
	if job.Progress != nil {
		if err := json.Unmarshal(job.Progress, &at); err != nil {
			return retry.Permanent(fmt.Errorf("notify: %s: progress: %w", job.Type, err))
		}
	}
	for {
		batch, err := f.read(ctx, s, job, event, at.After)
		if err != nil {
			return err
		}
		if len(batch.ids) > 0 {
			next := fanOutProgress{After: batch.ids[len(batch.ids)-1], Written: at.Written + len(batch.ids)}
			if err := f.write(ctx, s, job, event, batch.ids, next); err != nil {
				return err
			}
			at = next
		}
		if batch.last {
			return nil
		}
	}
}

// A batch is a part of a list.
type batch struct {
	ids  []string
	last bool
}

// read reads the ids that follow after. The list is left before anything is
// written: a host that reads it from its database holds no connection meanwhile.
func (f FanOut[E]) read(ctx context.Context, s *MailService, job *delivery.Job, event E, after string) (batch, error) {
	what := fmt.Sprintf("the list of %s after %q", job.Type, after)
	read, err := ask(ctx, s.config.LoadTimeout, what, func(ctx context.Context) (batch, error) {
		read := batch{ids: make([]string, 0, fanOutBatch)}
		for id, err := range f.IDs(ctx, event, after) {
			if err != nil {
				return batch{}, err
			}
			if len(read.ids) == fanOutBatch {
				return read, nil
			}
			read.ids = append(read.ids, id)
		}
		read.last = true
		return read, nil
	})
	if err == nil && after != "" && len(read.ids) > 0 && (read.ids[0] == after || read.ids[len(read.ids)-1] == after) {
		err = retry.Permanent(fmt.Errorf("notify: %s: the host's list does not start after the id it was given, %q", job.Type, after))
	}
	return read, err
}

// write writes the events of ids and, in the same transaction, where the list
// was left.
func (f FanOut[E]) write(ctx context.Context, s *MailService, job *delivery.Job, event E, ids []string, next fanOutProgress) error {
	children := make([]Event, len(ids))
	for i, id := range ids {
		children[i] = f.Event(event, id)
	}
	err := s.config.Outbox.queue.BeginFunc(ctx, func(tx pgx.Tx) error {
		if _, err := s.config.Outbox.publishMany(ctx, tx, children); err != nil {
			return err
		}
		return s.config.Outbox.queue.SaveProgress(ctx, tx, job, next)
	})
	if err != nil {
		return fmt.Errorf("notify: %s after %q: %w", job.Type, next.After, err)
	}
	return nil
}
