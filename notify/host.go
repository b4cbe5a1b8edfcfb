package notify

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/retry"
)

// ErrNotFound is what a host returns, wrapped or not, for something that does
// not exist, or is another tenant's: the job fails at once, since no retry makes
// it exist. A host that reads from a replica should look at the primary before
// it says so. Any other error is retried.
var ErrNotFound = errors.New("not found")

// Tenants finds tenants. The host implements it; it is asked for every e-mail.
type Tenants interface {
	// Tenant returns a tenant as it is now, or [ErrNotFound].
	Tenant(ctx context.Context, code string) (Tenant, error)
}

// A Tenant is in whose name e-mails are sent.
type Tenant struct {
	// Brand is the tenant's own visual identity.
	Brand view.Brand
	// WebsiteType, where the tenant has one, gives account e-mails its
	// identity. May be nil.
	WebsiteType *WebsiteType
	// Language is that of readers whose own is not known, or is none of the
	// views': a BCP 47 tag such as "es-UY". Empty means Spanish.
	Language string
	// TimeZone is the one that times are told in. Nil means UTC.
	TimeZone *time.Location
}

// Validate returns what is wrong with the tenant, naming the fields, or nil. An
// e-mail of a tenant that is not valid fails its job.
func (t Tenant) Validate() error {
	faults := []error{within("Brand", t.Brand.Validate())}
	if t.WebsiteType != nil {
		_, brand := t.account()
		faults = append(faults, within("WebsiteType.Brand", brand.Validate()))
	}
	if t.Language != "" {
		_, err := view.ParseLocale(t.Language)
		faults = append(faults, within("Language", err))
	}
	return errors.Join(faults...)
}

func within(field string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", field, err)
}

// account returns the identity of account e-mails: the WebsiteType's, or the
// tenant's own where there is none.
func (t Tenant) account() (whose string, brand view.Brand) {
	if t.WebsiteType == nil {
		return "Brand", t.Brand
	}
	brand = t.WebsiteType.Brand
	if brand.From.Address == "" {
		brand.From.Address, brand.ReplyTo = t.Brand.From.Address, t.Brand.ReplyTo
	}
	return "WebsiteType.Brand", brand
}

// in returns a time in the tenant's zone.
func (t Tenant) in(at time.Time) time.Time { return inZone(at, t.TimeZone) }

// inZone returns a time in the first zone that is not nil, or in UTC. A zero time
// stays zero.
func inZone(at time.Time, zones ...*time.Location) time.Time {
	if at.IsZero() {
		return at
	}
	for _, zone := range zones {
		if zone != nil {
			return at.In(zone)
		}
	}
	return at.UTC()
}

// A WebsiteType is the kind of site that a tenant's users have their account
// on; several tenants may share one.
type WebsiteType struct {
	// Brand is its visual identity. Without a From address its e-mails have
	// the tenant's From and ReplyTo addresses: it is the tenant's SMTP
	// integration that sends them.
	Brand view.Brand
}

// A User is whom an e-mail is for.
type User struct {
	// Name is how to address the user. Empty means without a name.
	Name string
	// Email is the address. Empty, or one that cannot be used: nothing is
	// sent, and the job says why.
	Email string
	// Language is the user's: a BCP 47 tag such as "pt-BR". Empty, or one that
	// is none of the views', means the tenant's.
	Language string
}

// DefaultLoadTimeout is how long a host's interface has for an answer.
const DefaultLoadTimeout = 30 * time.Second

// ask asks the host, for at most limit, and says what it asked for where the
// answer is an error. A host that does not come back when its context has ended
// is left behind, in a goroutine that ends when it does: one job fails by it,
// and its place in the runner is free again.
func ask[T any](ctx context.Context, limit time.Duration, what string, question func(context.Context) (T, error)) (T, error) {
	type answer struct {
		found T
		err   error
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the host did not answer within %s", limit))
	defer cancel()
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("the host ended the goroutine that asked it")}
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("the host panicked: %v\n%s", p, debug.Stack())
			}
			answers <- a
		}()
		a.found, a.err = question(ctx)
	}()
	var a answer
	select {
	case a = <-answers:
	case <-ctx.Done():
		a.err = context.Cause(ctx)
	}
	// A host that heard of the deadline says so in words of its own.
	if a.err != nil && ctx.Err() != nil && errors.Is(a.err, ctx.Err()) {
		a.err = fmt.Errorf("%w: %w", context.Cause(ctx), a.err)
	}
	return a.found, loaded(what, a.err)
}

// loaded says what was to be loaded from the host, and whether to try again.
func loaded(what string, err error) error {
	if err == nil {
		return nil
	}
	if _, skipped := delivery.SkipReason(err); skipped {
		return err
	}
	err = fmt.Errorf("notify: load %s: %w", what, err)
	if errors.Is(err, ErrNotFound) {
		return retry.Permanent(err)
	}
	return err
}
