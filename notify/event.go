package notify

import (
	"fmt"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/retry"
)

// An Event is something that happened in the host and wants an e-mail. It is a
// struct, and its JSON is the job's payload: identifiers only, never entities,
// since listeners load fresh state when they run.
type Event interface {
	// Type is the same for every event of a Go type, its zero value included.
	Type() EventType
	// Tenant is the code of the tenant that it happened in.
	Tenant() string
	// Validate returns what is wrong with the event, naming field and value,
	// or nil. It is asked before the event is written, and again when it was
	// read.
	Validate() error
}

// An EventType says how the events of one Go type are kept.
type EventType struct {
	// JobType is the type of their jobs, in snake case.
	JobType string
	// Version is that of the payload's form. It rises when a process that
	// knows the old form could not do the right thing with the new one; such
	// a process then leaves the job to a newer one. Zero means 1.
	Version int
	// Priority of the jobs. Zero is the normal one.
	Priority delivery.Priority
}

func (t EventType) version() int { return max(t.Version, 1) }

// checkID refuses what cannot be part of a business key.
func checkID(field, value string) error {
	if err := mail.CheckKeyPart(value); err != nil {
		return fmt.Errorf("%s %.60q %w", field, value, err)
	}
	return nil
}

// valid is the check of an event that was read or handed in: what is wrong
// with it stays wrong.
func valid(event Event) error {
	if err := event.Validate(); err != nil {
		return retry.Permanent(fmt.Errorf("notify: %s: %w", event.Type().JobType, err))
	}
	return nil
}
