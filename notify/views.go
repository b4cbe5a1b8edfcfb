package notify

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	netmail "net/mail"
	"slices"
	"strings"
	"time"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
)

// The kinds of e-mail, as the table of deliveries and the metrics of package
// delivery/mail name them.
const (
	KindWelcome              = "welcome"
	KindPasswordReset        = "password-reset"
	KindPurchaseConfirmed    = "purchase-confirmed"
	KindEventDateRescheduled = "event-date-rescheduled"
	KindEventDateSuspended   = "event-date-suspended"
)

var kinds = []string{
	KindWelcome, KindPasswordReset, KindPurchaseConfirmed, KindEventDateRescheduled, KindEventDateSuspended,
}

// The e-mails that are sent every time they are asked for: see
// [MailService.SendTest] and [MailService.SendIntegrationValidation].
const (
	KindTest                  = "test"
	KindIntegrationValidation = "integration-validation"
)

//go:embed views
var embedded embed.FS

// ViewFiles returns the library's own template files, es/welcome.html and so on,
// for hosts that want to begin with them. Their form is said in package
// delivery/mail/view.
func ViewFiles() fs.FS {
	files, err := fs.Sub(embedded, "views")
	if err != nil {
		panic(err) // a fault of the build
	}
	return files
}

// Views are the views of the library's e-mails. They need no database: a host's
// own tests can make them of its files.
type Views struct {
	welcome               *view.View[WelcomeData]
	passwordReset         *view.View[PasswordResetData]
	purchaseConfirmed     *view.View[PurchaseConfirmedData]
	eventDateRescheduled  *view.View[EventDateRescheduledData]
	eventDateSuspended    *view.View[EventDateSuspendedData]
	test                  *view.View[TestData]
	integrationValidation *view.View[IntegrationValidationData]
}

// NewViews makes the views. A file of the host's, es/welcome.html or
// layout.html, say, takes the place of the library's of that name; a folder of
// another language adds that language to the views that it has. files may be
// nil. Every view is tried, in every language, with samples that take every
// branch; the error joins every fault, and names the files.
func NewViews(files fs.FS) (*Views, error) {
	from := view.Files{files, ViewFiles()}
	var v Views
	faults := []error{
		load(&v.welcome, from, "welcome", []WelcomeData{{}}),
		load(&v.passwordReset, from, "password_reset", passwordResetSamples()),
		load(&v.purchaseConfirmed, from, "purchase_confirmed", purchaseConfirmedSamples()),
		load(&v.eventDateRescheduled, from, "event_date_rescheduled", eventDateRescheduledSamples()),
		load(&v.eventDateSuspended, from, "event_date_suspended", eventDateSuspendedSamples()),
		load(&v.test, from, "test", testSamples()),
		load(&v.integrationValidation, from, "integration_validation", integrationValidationSamples()),
	}
	if files != nil {
		faults = append(faults, view.CheckNames(files, viewNames...))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("notify: views: %w", err)
	}
	return &v, nil
}

var viewNames = []string{
	"welcome", "password_reset", "purchase_confirmed", "event_date_rescheduled", "event_date_suspended", "test", "integration_validation",
}

func load[D any](into **view.View[D], from view.Files, name string, samples []D) (err error) {
	*into, err = view.New(from, name, samples...)
	return err
}

// A Preview is an e-mail as it would be sent, rendered of sample data.
type Preview struct {
	Kind    string
	Message mail.Message
}

// Previews renders every e-mail with each of its samples, in the identity of a
// tenant and the first of the languages that it has. Nothing is sent.
func (v *Views) Previews(ctx context.Context, tenant Tenant, languages ...string) ([]Preview, error) {
	if err := tenant.Validate(); err != nil {
		return nil, fmt.Errorf("notify: previews: %w", err)
	}
	p := previewer{ctx: ctx, tenant: tenant, languages: slices.Concat(languages, []string{tenant.Language})}
	err := errors.Join(
		preview(&p, KindWelcome, v.welcome, true),
		preview(&p, KindPasswordReset, v.passwordReset, true),
		preview(&p, KindPurchaseConfirmed, v.purchaseConfirmed, false),
		preview(&p, KindEventDateRescheduled, v.eventDateRescheduled, false),
		preview(&p, KindEventDateSuspended, v.eventDateSuspended, false),
		preview(&p, KindTest, v.test, false),
		preview(&p, KindIntegrationValidation, v.integrationValidation, false),
	)
	if err != nil {
		return nil, fmt.Errorf("notify: previews: %w", err)
	}
	return p.all, nil
}

// Languages returns the languages that every view has.
func (v *Views) Languages() []string {
	return slices.DeleteFunc(slices.Clone(v.welcome.Languages()), func(language string) bool {
		for _, has := range [][]string{
			v.passwordReset.Languages(), v.purchaseConfirmed.Languages(), v.eventDateRescheduled.Languages(),
			v.eventDateSuspended.Languages(), v.test.Languages(), v.integrationValidation.Languages(),
		} {
			if !slices.Contains(has, language) {
				return true
			}
		}
		return false
	})
}

type previewer struct {
	ctx       context.Context
	tenant    Tenant
	languages []string
	all       []Preview
}

// preview renders the samples of one view.
func preview[D any](p *previewer, kind string, v *view.View[D], account bool) error {
	brand := p.tenant.Brand
	if account {
		_, brand = p.tenant.account()
	}
	for _, sample := range v.Samples() {
		content, err := v.Render(p.ctx, brand, view.Reader{Name: "Ana Pérez", Languages: p.languages}, sample)
		if err != nil {
			return err
		}
		message := newMessage(brand, netmail.Address{Name: "Ana Pérez", Address: "ana@example.com"}, content, nil)
		message.MessageID, message.Date = "vista-previa."+kind+brand.From.Address[strings.LastIndexByte(brand.From.Address, '@'):], sampleTime
		if data, ok := any(sample).(PurchaseConfirmedData); ok && data.Attached {
			if message.Attachments, err = attach(p.tenant, samplePurchase(p.languages), sampleTickets(), v.Languages()); err != nil {
				return err
			}
		}
		p.all = append(p.all, Preview{Kind: kind, Message: message})
	}
	return nil
}

var sampleTime = time.Date(2026, time.March, 5, 15, 4, 0, 0, time.UTC)
