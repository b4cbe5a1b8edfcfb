package notifytest

import (
	"context"
	netmail "net/mail"
	"sync"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
)

// A stage answers with what a host has answered, whatever it is asked for, so
// that the library itself says whether it can use that.
type stage struct {
	tenant   notify.Tenant
	attempt  notify.PasswordReset
	purchase notify.Purchase
	tickets  notify.PurchaseTickets
}

func (s stage) Tenant(context.Context, string) (notify.Tenant, error) { return s.tenant, nil }

func (s stage) PasswordReset(context.Context, string, string) (notify.PasswordReset, error) {
	return s.attempt, nil
}

func (s stage) Purchase(context.Context, string, string) (notify.Purchase, error) {
	return s.purchase, nil
}

func (s stage) Tickets(context.Context, string, string) (notify.PurchaseTickets, error) {
	return s.tickets, nil
}

// views are made once, since trying them all takes a while.
var views = sync.OnceValues(func() (*notify.Views, error) { return notify.NewViews(nil) })

// service returns a service that cannot send: its mailer has no database, and
// is not to be reached.
func (s stage) service() (*notify.MailService, error) {
	own, err := views()
	if err != nil {
		return nil, err
	}
	return notify.NewMailService(notify.MailServiceConfig{
		Mailer: new(mail.Mailer), Tenants: s, PasswordResets: s, Purchases: s, Tickets: s, Views: own,
	})
}

// on is where and what the stage is asked for.
const on = "stage"

// tryCode returns what is wrong with a recovery code. The e-mail that it is
// tried in has nobody to go to: where the code is sound, that is why it is
// skipped.
func tryCode(code notify.RecoveryCode) error {
	service, err := stage{
		tenant: notify.Tenant{Brand: view.Brand{
			Name: on, From: netmail.Address{Address: "stage@notifytest.invalid"},
		}},
		attempt: notify.PasswordReset{Code: code, Pending: true},
	}.service()
	if err != nil {
		return err
	}
	err = service.SendPasswordReset(context.Background(), notify.PasswordResetRequested{TenantCode: on, AttemptID: on})
	if _, skipped := delivery.SkipReason(err); skipped {
		return nil
	}
	return err
}

// tryDocument returns what keeps the tickets from being made one PDF.
func tryDocument(ctx context.Context, tenant notify.Tenant, purchase notify.Purchase, tickets notify.PurchaseTickets) error {
	service, err := stage{tenant: tenant, purchase: purchase, tickets: tickets}.service()
	if err != nil {
		return err
	}
	_, err = service.TicketsPDF(ctx, on, on, purchase.Buyer.Language)
	return err
}
