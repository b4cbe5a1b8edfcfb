package notify

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"slices"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/retry"
)

// The kinds of e-mail, as the table of deliveries and the metrics of package
// delivery/mail name them.
const (
	KindWelcome       = "welcome"
	KindPasswordReset = "password-reset"
)

var kinds = []string{KindWelcome, KindPasswordReset}

// MailServiceConfig configures a [MailService].
type MailServiceConfig struct {
	// Mailer sends each e-mail once, through the tenant's SMTP integration.
	// Required.
	Mailer *mail.Mailer

	// Users, Tenants and PasswordResets give the host's data. Required. They
	// are called from many goroutines at once.
	Users          Users
	Tenants        Tenants
	PasswordResets PasswordResets

	// OnUnknown is what happens to an e-mail whose outcome is unknown, by
	// kind. A kind that is not there has mail.Resend.
	OnUnknown map[string]mail.UnknownPolicy
}

// A MailService sends the e-mail of an event: it loads what it needs, decides
// whether there is still something to send, renders the view and sends it under
// the event's key. It is the seed documents' NotificationMailService. It is
// safe for concurrent use.
type MailService struct {
	config        MailServiceConfig
	welcome       view[welcomeData]
	passwordReset view[passwordResetData]
}

// NewMailService returns a service. It tries every view with sample data. The
// error joins every fault and names the fields.
func NewMailService(config MailServiceConfig) (*MailService, error) {
	welcome, welcomeErr := newView("welcome", welcomeSamples()...)
	passwordReset, passwordResetErr := newView("password_reset", passwordResetSamples()...)
	if err := errors.Join(config.validate(), welcomeErr, passwordResetErr); err != nil {
		return nil, fmt.Errorf("notify: mail service: %w", err)
	}
	return &MailService{config: config, welcome: welcome, passwordReset: passwordReset}, nil
}

func (c MailServiceConfig) validate() error {
	var faults []error
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Mailer", c.Mailer == nil},
		{"Users", c.Users == nil},
		{"Tenants", c.Tenants == nil},
		{"PasswordResets", c.PasswordResets == nil},
	} {
		if field.missing {
			faults = append(faults, fmt.Errorf("%s is nil", field.name))
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

// JobTypes returns the listeners, one for each event, for
// delivery.RunnerConfig.JobTypes. A host may set the other fields, such as
// Concurrency, on what it gets.
func (s *MailService) JobTypes() []delivery.JobType {
	return []delivery.JobType{
		listener(s.SendWelcome),
		listener(s.SendPasswordReset),
	}
}

// An email is what is to be sent, under which key.
type email struct {
	tenant  string
	kind    string
	key     []string // the parts of the business key
	from    netmail.Address
	replyTo *netmail.Address
	to      netmail.Address
	content content
}

// send sends an e-mail, unless that was done before.
func (s *MailService) send(ctx context.Context, e email) error {
	key, err := mail.Key(e.key...)
	if err != nil {
		return retry.Permanent(fmt.Errorf("notify: %s: %w", e.kind, err))
	}
	_, err = s.config.Mailer.Send(ctx,
		mail.Delivery{Tenant: e.tenant, Key: key, Kind: e.kind, OnUnknown: s.config.OnUnknown[e.kind]},
		mail.Message{
			From: e.from, To: e.to, ReplyTo: e.replyTo,
			Subject: e.content.subject, Text: e.content.text, HTML: e.content.html,
			// Exchange's word for what RFC 3834 asks: no vacation notices.
			Headers: []mail.Header{{Name: "X-Auto-Response-Suppress", Value: "OOF, AutoReply"}},
		})
	if err != nil {
		return fmt.Errorf("notify: %s: %w", e.kind, err)
	}
	return nil
}

// tenant loads a tenant.
func (s *MailService) tenant(ctx context.Context, code string) (Tenant, error) {
	tenant, err := s.config.Tenants.Tenant(ctx, code)
	return tenant, loaded(fmt.Sprintf("tenant %q", code), err)
}

// accountBrand returns the identity of the tenant's account e-mails. One that
// cannot be used is an error that no retry mends.
func accountBrand(code string, tenant Tenant) (Brand, error) {
	whose, brand := tenant.account()
	if err := brand.Validate(); err != nil {
		return Brand{}, retry.Permanent(fmt.Errorf("notify: %s of tenant %q: %w", whose, code, err))
	}
	return brand, nil
}

// recipient returns the header To, or a delivery.Skip that says why there is
// nobody to write to.
func recipient(user User) (netmail.Address, error) {
	address, err := mail.ParseAddress(user.Email)
	switch {
	case errors.Is(err, mail.ErrNoAddress):
		return netmail.Address{}, delivery.Skip("the user has no e-mail address")
	case err != nil:
		return netmail.Address{}, delivery.Skip("the user's address cannot be used: " + err.Error())
	}
	return netmail.Address{Name: personName(user.Name), Address: address.Address}, nil
}
