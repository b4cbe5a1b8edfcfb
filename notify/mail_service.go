package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
)

// MailServiceConfig configures a [MailService].
//
// The host's interfaces are called from many goroutines at once. Those of a
// group that are nil leave out the e-mails that need them: there is then no
// listener for their events, whose jobs wait for a process that has one.
type MailServiceConfig struct {
	// Mailer sends each e-mail once, through the tenant's SMTP integration.
	// Required.
	Mailer *mail.Mailer

	// Tenants finds the tenants. Required.
	Tenants Tenants

	// Users is for the welcome, PasswordResets for the recovery of passwords.
	Users          Users
	PasswordResets PasswordResets

	// Purchases and Tickets are for the confirmation of purchases, and go
	// together; a host without tickets gives [NoTickets].
	Purchases Purchases
	Tickets   Tickets

	// EventDates is, with Purchases, for dates that are rescheduled or
	// suspended. It needs an Outbox.
	EventDates EventDates

	// Outbox is where the jobs of such dates write an event for each purchase.
	Outbox *Outbox

	// Views render the e-mails. Defaults to the library's own.
	Views *Views

	// LoadTimeout bounds each call of the host's interfaces. One that takes
	// longer, whether or not it heeds its context, fails that attempt of that
	// job. Defaults to 30 seconds.
	LoadTimeout time.Duration

	// OnUnknown is what happens to an e-mail whose outcome is unknown, by
	// kind. A kind that is not there has mail.Resend.
	OnUnknown map[string]mail.UnknownPolicy
}

// A MailService sends the e-mail of an event: it loads what it needs, decides
// whether there is still something to send, renders the view and sends it under
// the event's key. It is the seed documents' NotificationMailService. It is
// safe for concurrent use.
type MailService struct {
	config MailServiceConfig
	views  *Views

	welcome       Kind[UserRegistered, WelcomeData]
	passwordReset Kind[PasswordResetRequested, PasswordResetData]
	confirmed     Kind[PurchasePaid, PurchaseConfirmedData]
	rescheduled   Kind[EventDateRescheduledPurchase, EventDateRescheduledData]
	suspended     Kind[EventDateSuspendedPurchase, EventDateSuspendedData]
}

// NewMailService returns a service. The error joins every fault and names the
// fields.
func NewMailService(config MailServiceConfig) (*MailService, error) {
	var viewsErr error
	if config.Views == nil {
		config.Views, viewsErr = NewViews(nil)
	}
	if config.LoadTimeout == 0 {
		config.LoadTimeout = DefaultLoadTimeout
	}
	if err := errors.Join(config.validate(), viewsErr); err != nil {
		return nil, fmt.Errorf("notify: mail service: %w", err)
	}
	s := &MailService{config: config, views: config.Views}
	s.welcome, s.passwordReset = s.welcomeKind(), s.passwordResetKind()
	s.confirmed, s.rescheduled, s.suspended = s.confirmedKind(), s.rescheduledKind(), s.suspendedKind()
	return s, nil
}

func (c MailServiceConfig) validate() error {
	var faults []error
	for _, field := range []struct {
		fault  string
		faulty bool
	}{
		{"Mailer is nil", c.Mailer == nil},
		{"Tenants is nil", c.Tenants == nil},
		{"Users, PasswordResets and Purchases are nil: there is nothing to send", c.Users == nil && c.PasswordResets == nil && c.Purchases == nil},
		{"Tickets is nil; a host without tickets gives NoTickets", c.Purchases != nil && c.Tickets == nil},
		{"Purchases is nil, which Tickets and EventDates need", c.Purchases == nil && (c.Tickets != nil || c.EventDates != nil)},
		{"Outbox is nil, which EventDates needs", c.EventDates != nil && c.Outbox == nil},
		{"LoadTimeout is negative", c.LoadTimeout < 0},
	} {
		if field.faulty {
			faults = append(faults, errors.New(field.fault))
		}
	}
	for kind, policy := range c.OnUnknown {
		if !slices.Contains(kinds, kind) {
			faults = append(faults, fmt.Errorf("OnUnknown: there is no kind %q", kind))
		}
		if policy != mail.Resend && policy != mail.Hold {
			faults = append(faults, fmt.Errorf("OnUnknown[%q] is %q; want %q or %q", kind, policy, mail.Resend, mail.Hold))
		}
	}
	return errors.Join(faults...)
}

// JobTypes returns the listeners, for delivery.RunnerConfig.JobTypes: one for
// each event whose e-mail the host's interfaces suffice for. A host may set the
// other fields, such as Concurrency, on what it gets.
func (s *MailService) JobTypes() []delivery.JobType {
	var all []delivery.JobType
	if s.config.Users != nil {
		all = append(all, s.welcome.listener(s))
	}
	if s.config.PasswordResets != nil {
		all = append(all, s.passwordReset.listener(s))
	}
	if s.config.Purchases != nil {
		all = append(all, s.confirmed.listener(s))
	}
	if s.config.EventDates != nil {
		all = append(all,
			s.rescheduledFanOut().listener(s), s.rescheduled.listener(s),
			s.suspendedFanOut().listener(s), s.suspended.listener(s))
	}
	return all
}

// tenant loads a tenant.
func (s *MailService) tenant(ctx context.Context, code string) (Tenant, error) {
	return ask(ctx, s.config.LoadTimeout, fmt.Sprintf("tenant %q", code), func(ctx context.Context) (Tenant, error) {
		return s.config.Tenants.Tenant(ctx, code)
	})
}

// errNoInterface is what is said of an e-mail that the service was not made for.
func errNoInterface(field string) error {
	return fmt.Errorf("notify: the service has no %s", field)
}
