package mail

import (
	"errors"
	"fmt"
	"time"

	"github.com/buzon-go/buzon/internal/pgtext"
)

// UnknownPolicy says what happens to an e-mail whose outcome is unknown: the
// final dot was written, and no reply to it was read.
type UnknownPolicy string

// The policies. The zero value is Resend.
const (
	// Resend sends again at the next attempt: rather twice than never.
	Resend UnknownPolicy = "resend"
	// Hold waits for [Mailer.Resolve]: rather asked than twice. It costs one
	// more commit for each message, before the dot.
	Hold UnknownPolicy = "hold"
)

// A Delivery names one e-mail.
type Delivery struct {
	// Tenant is whose e-mail it is; keys are unique within a tenant. Required.
	Tenant string

	// Key is the business key, such as "welcome:acme:42"; see [Key]. Required.
	Key string

	// Kind is the kind of e-mail, such as "welcome", for metrics and for
	// whoever looks at the table. Required.
	Kind string

	// OnUnknown is the policy for an unknown outcome. Defaults to Resend.
	OnUnknown UnknownPolicy
}

func (d Delivery) validate() error {
	err := errors.Join(
		pgtext.Check("Tenant", d.Tenant, 1, 255),
		pgtext.Check("Key", d.Key, 1, 1500),
		pgtext.Check("Kind", d.Kind, 1, 100),
	)
	if d.OnUnknown != Resend && d.OnUnknown != Hold {
		err = errors.Join(err, fmt.Errorf("OnUnknown is %q; want %q or %q", d.OnUnknown, Resend, Hold))
	}
	return err
}

// A Status is where a delivery stands.
type Status string

// The statuses of a delivery.
const (
	StatusProcessing Status = "processing" // a worker owns its claim, or has died
	StatusSent       Status = "sent"       // final
	StatusFailed     Status = "failed"     // not taken by the server; may be tried again
	StatusUnknown    Status = "unknown"    // perhaps taken; see UnknownPolicy
)

// A Record is what is known of a delivery. Zero times mean "never".
type Record struct {
	ID        int64
	Tenant    string
	Key       string
	Kind      string
	OnUnknown UnknownPolicy
	MessageID string // without angle brackets; the same at every attempt
	CreatedAt time.Time
	UpdatedAt time.Time

	Status       Status
	Attempts     int
	LastError    string
	SentAt       time.Time
	Response     string // the server's words when it took the message
	ClaimNumber  int64  // the fencing number: how often the key was claimed
	ClaimedUntil time.Time

	ResolvedAt    time.Time
	ResolvedBy    string
	ResolveReason string
}
