package notify

import (
	"context"
	"errors"
	"fmt"
	netmail "net/mail"
	"slices"
	"time"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/retry"
)

// A Kind is a kind of e-mail: what is sent, once, for events of type E, by a
// view that shows data of type D. The library's own are made of it, and so are a
// host's: [Kind.JobType] returns the listener, for the runner.
type Kind[E Event, D any] struct {
	// Name names the kind in the table of deliveries and in the metrics, and
	// begins its business keys: "invoice-ready". It may not hold what a part of
	// a key may not, nor be the name of one of the library's. Required.
	Name string

	// Key returns the parts of an event's business key that follow the name:
	// one key is one e-mail for ever. Required.
	Key func(event E) []string

	// Load loads what the e-mail says, as it is when it is about to be sent,
	// and whom it goes to. Required. It is called for each attempt, so it must
	// be idempotent or tolerate a repeat. delivery.Skip says that there is
	// nothing to send (any more), [ErrNotFound] and retry.Permanent end the job
	// as failed, and any other error is retried. Its context ends after
	// MailServiceConfig.LoadTimeout.
	Load func(ctx context.Context, event E, tenant Tenant) (Email[D], error)

	// View renders it. Required.
	View *view.View[D]

	// Account gives it the identity of account e-mails: that of the tenant's
	// WebsiteType. Defaults to the tenant's own.
	Account bool

	// OnUnknown is what happens when its outcome is unknown. Defaults to
	// mail.Resend.
	OnUnknown mail.UnknownPolicy
}

// An Email is what [Kind.Load] returns.
type Email[D any] struct {
	// To is who gets it. One without an address that can be used ends the job
	// as skipped.
	To User
	// Data is what the view shows.
	Data D
	// Attachments are its files.
	Attachments []mail.Attachment
	// NotAfter is when it is of no use any more: it is then not sent. Zero
	// means never.
	NotAfter time.Time
}

// JobType returns the kind's listener, for delivery.RunnerConfig.JobTypes beside
// those of [MailService.JobTypes]. A host may set the other fields, such as
// Concurrency, on what it gets. The error joins every fault.
func (k Kind[E, D]) JobType(service *MailService) (delivery.JobType, error) {
	faults := []error{checkID("Name", k.Name)}
	if slices.Contains(kinds, k.Name) {
		faults = append(faults, fmt.Errorf("Name %q is that of one of the library's kinds", k.Name))
	}
	for _, field := range []struct {
		name    string
		missing bool
	}{
		{"Key", k.Key == nil},
		{"Load", k.Load == nil},
		{"View", k.View == nil},
		{"the service", service == nil},
	} {
		if field.missing {
			faults = append(faults, fmt.Errorf("%s is nil", field.name))
		}
	}
	if k.OnUnknown != "" && k.OnUnknown != mail.Resend && k.OnUnknown != mail.Hold {
		faults = append(faults, fmt.Errorf("OnUnknown is %q; want %q or %q", k.OnUnknown, mail.Resend, mail.Hold))
	}
	if err := errors.Join(faults...); err != nil {
		return delivery.JobType{}, fmt.Errorf("notify: kind %q: %w", k.Name, err)
	}
	load := k.Load
	k.Load = func(ctx context.Context, event E, tenant Tenant) (Email[D], error) {
		return ask(ctx, service.config.LoadTimeout, "what "+k.Name+" says", func(ctx context.Context) (Email[D], error) {
			return load(ctx, event, tenant)
		})
	}
	return k.listener(service), nil
}

// listener returns the kind's job type.
func (k Kind[E, D]) listener(service *MailService) delivery.JobType {
	return listener(func(ctx context.Context, _ *delivery.Job, event E) error { return k.send(ctx, service, event) })
}

// send loads, renders and sends the e-mail of an event, unless that was done
// before.
func (k Kind[E, D]) send(ctx context.Context, s *MailService, event E) error {
	if err := valid(event); err != nil {
		return err
	}
	key, err := mail.Key(slices.Concat([]string{k.Name}, k.Key(event))...)
	if err != nil {
		return retry.Permanent(fmt.Errorf("notify: %s: %w", k.Name, err))
	}
	tenant, err := s.tenant(ctx, event.Tenant())
	if err != nil {
		return err
	}
	brand, err := tenant.brand(event.Tenant(), k.Account)
	if err != nil {
		return err
	}
	email, err := k.Load(ctx, event, tenant)
	if err != nil {
		return err
	}
	message, err := k.compose(ctx, brand, tenant, email)
	if err != nil {
		return err
	}
	if !email.NotAfter.IsZero() {
		if !time.Now().Before(email.NotAfter) {
			return delivery.Skip("the e-mail is of no use any more")
		}
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, email.NotAfter)
		defer cancel()
	}
	_, err = s.config.Mailer.Send(ctx, mail.Delivery{Tenant: event.Tenant(), Key: key, Kind: k.Name, OnUnknown: k.OnUnknown}, message)
	if err != nil {
		return fmt.Errorf("notify: %s: %w", k.Name, err)
	}
	return nil
}

// compose renders an e-mail for its recipient.
func (k Kind[E, D]) compose(ctx context.Context, brand view.Brand, tenant Tenant, email Email[D]) (mail.Message, error) {
	to, err := recipient(email.To)
	if err != nil {
		return mail.Message{}, err
	}
	content, err := k.View.Render(ctx, brand, view.Reader{Name: to.Name, Languages: languages(email.To, tenant)}, email.Data)
	switch {
	case ctx.Err() != nil:
		return mail.Message{}, context.Cause(ctx)
	case err != nil:
		return mail.Message{}, retry.Permanent(fmt.Errorf("notify: %s: %w", k.Name, err)) // the view's fault, which stays
	}
	return newMessage(brand, to, content, email.Attachments), nil
}

// languages returns a reader's, in the order of preference.
func languages(user User, tenant Tenant) []string { return []string{user.Language, tenant.Language} }

// newMessage puts together what a view has rendered.
func newMessage(brand view.Brand, to netmail.Address, content view.Content, attachments []mail.Attachment) mail.Message {
	return mail.Message{
		From: brand.Sender(), To: to, ReplyTo: brand.Answers(),
		Subject: content.Subject, Text: content.Text, HTML: content.HTML, Attachments: attachments,
		// Exchange's word for what RFC 3834 asks: no vacation notices.
		Headers: []mail.Header{{Name: "X-Auto-Response-Suppress", Value: "OOF, AutoReply"}},
	}
}

// brand returns the identity of the tenant's e-mails. One that cannot be used is
// an error that no retry mends.
func (t Tenant) brand(code string, account bool) (view.Brand, error) {
	whose, brand := "Brand", t.Brand
	if account {
		whose, brand = t.account()
	}
	if err := brand.Validate(); err != nil {
		return view.Brand{}, retry.Permanent(fmt.Errorf("notify: %s of tenant %q: %w", whose, code, err))
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
