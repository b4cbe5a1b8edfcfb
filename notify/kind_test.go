package notify_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/internal/mailcheck"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/retry"
)

// invoiceReady is an event of the host's own.
type invoiceReady struct {
	TenantCode string `json:"tenant_code"`
	InvoiceID  string `json:"invoice_id"`
}

func (invoiceReady) Type() notify.EventType { return notify.EventType{JobType: "invoice_ready"} }
func (e invoiceReady) Tenant() string       { return e.TenantCode }
func (e invoiceReady) Validate() error      { return mail.CheckKeyPart(e.InvoiceID) }

type invoiceData struct{ Number fmt.Stringer }

type number string

func (n number) String() string {
	if n == "panic" {
		panic("no such number")
	}
	return string(n)
}

var invoiceFiles = fstest.MapFS{
	"es/invoice.html": {Data: []byte(`{{define "title"}}Factura{{end}}{{define "preheader"}}.{{end}}{{define "reason"}}.{{end}}{{define "content"}}<p>Factura {{.Data.Number.String}}</p>{{end}}`)},
	"es/invoice.txt":  {Data: []byte(`{{define "subject"}}Factura {{.Data.Number.String}}{{end}}{{define "reason"}}.{{end}}{{define "content"}}Factura {{.Data.Number.String}}{{end}}`)},
}

func invoiceKind(t *testing.T, load func(context.Context, invoiceReady, notify.Tenant) (notify.Email[invoiceData], error)) notify.Kind[invoiceReady, invoiceData] {
	t.Helper()
	rendered, err := view.New(view.Files{invoiceFiles}, "invoice", invoiceData{number("1")})
	require.NoError(t, err)
	return notify.Kind[invoiceReady, invoiceData]{
		Name: "invoice-ready", View: rendered,
		Key:  func(e invoiceReady) []string { return []string{e.InvoiceID} },
		Load: load,
	}
}

func loadInvoice(_ context.Context, event invoiceReady, _ notify.Tenant) (notify.Email[invoiceData], error) {
	return notify.Email[invoiceData]{
		To: notify.User{Email: address}, Data: invoiceData{number(event.InvoiceID)},
		Attachments: []mail.Attachment{{Name: "Factura.txt", ContentType: "text/plain", Content: []byte("x")}},
	}, nil
}

func (h *house) add(kind notify.Kind[invoiceReady, invoiceData]) {
	h.t.Helper()
	jobType, err := kind.JobType(h.service)
	require.NoError(h.t, err)
	h.more = append(h.more, jobType)
}

// A host's own kind has what the library's have: one e-mail for a key, the
// tenant's identity, a record.
func TestKindOfTheHost(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.add(invoiceKind(t, loadInvoice))
	h.run()
	for range 2 {
		job := h.awaitEnd(h.publish(invoiceReady{"acme", "F-7"}))
		require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	}
	message, _ := h.onlyMessage()
	parsed := mailcheck.Wire(t, message.Data)
	assert.Equal(t, "Factura F-7", parsed.Subject)
	assert.Equal(t, "Acme", parsed.From.Name)
	assert.Contains(t, parsed.HTML, "<p>Factura F-7</p>")
	assert.Len(t, parsed.Attachments, 1)
	record, err := h.mailer.GetDelivery(t.Context(), "acme", "invoice-ready:F-7")
	require.NoError(t, err)
	assert.Equal(t, "invoice-ready", record.Kind)
}

// How a kind's Load ends its job.
func TestKindThatSendsNothing(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.retries = -1
	h.add(invoiceKind(t, func(ctx context.Context, event invoiceReady, tenant notify.Tenant) (notify.Email[invoiceData], error) {
		email, err := loadInvoice(ctx, event, tenant)
		switch event.InvoiceID {
		case "skip":
			err = delivery.Skip("paid already")
		case "missing":
			err = fmt.Errorf("row: %w", notify.ErrNotFound)
		case "permanent":
			err = retry.Permanent(errors.New("broken for good"))
		case "passing":
			err = errors.New("no connection")
		case "panics":
			panic("no such thing")
		case "goexit":
			runtime.Goexit()
		case "late":
			email.NotAfter = time.Now().Add(-time.Second)
		case "nobody":
			email.To.Email = ""
		case "attachment":
			email.Attachments[0].Name = ""
		}
		return email, err
	}))
	h.run()
	for id, want := range map[string]string{
		"skip": "skipped: paid already", "late": "skipped: the e-mail is of no use any more", "nobody": "skipped: the user has no e-mail address",
		"missing": "failed: notify: load what invoice-ready says: row: not found", "permanent": "broken for good",
		"passing": "no connection", "panics": "the host panicked: no such thing", "goexit": "ended the goroutine",
		"panic": "view invoice in es", "attachment": "attachment 1: name",
	} {
		job := h.awaitEnd(h.publish(invoiceReady{"acme", id}))
		got := fmt.Sprintf("%s: %s", job.State, job.LastError)
		if job.SkipReason != "" {
			got = "skipped: " + job.SkipReason
		}
		assert.Contains(t, got, want, id)
	}
	assert.Zero(t, h.server.Accepted())
	job := h.awaitEnd(h.publish(invoiceReady{"acme", "F-8"}))
	assert.Equal(t, delivery.StateCompleted, job.State, "and nothing else suffered")
}

// blocking is a host that does not come back for one user.
type blocking struct {
	*host
	heeds   bool
	release chan struct{}
}

func (b blocking) User(ctx context.Context, tenantCode, userID string) (notify.User, error) {
	if userID != "7" {
		return b.host.User(ctx, tenantCode, userID)
	}
	if b.heeds {
		<-ctx.Done()
		return notify.User{}, ctx.Err()
	}
	<-b.release
	return notify.User{}, errors.New("too late")
}

// A host that blocks past its deadline, whether or not it heeds its context,
// fails one job and says why; others go on.
func TestHostThatBlocks(t *testing.T) {
	t.Parallel()
	for _, heeds := range []bool{true, false} {
		t.Run(fmt.Sprint("heeds its context: ", heeds), func(t *testing.T) {
			t.Parallel()
			release := make(chan struct{})
			h := newHouse(t, func(c *notify.MailServiceConfig) {
				c.Users, c.LoadTimeout = blocking{c.Users.(*host), heeds, release}, 200*time.Millisecond
			})
			t.Cleanup(func() { close(release) })
			h.retries = -1
			h.host.set(func(host *host) { host.users["acme/8"] = host.users["acme/7"] })
			h.run()
			blocked := h.publish(registered)
			fine := h.publish(notify.UserRegistered{TenantCode: "acme", UserID: "8"})
			assert.Equal(t, delivery.StateCompleted, h.awaitEnd(fine).State)
			job := h.awaitEnd(blocked)
			assert.Equal(t, delivery.StateFailed, job.State)
			assert.Contains(t, job.LastError, `notify: load user "7" of tenant "acme": the host did not answer within 200ms`)
			h.onlyMessage()
		})
	}
}

func TestKindNamesEveryFault(t *testing.T) {
	t.Parallel()
	_, err := notify.Kind[invoiceReady, invoiceData]{Name: "a:b", OnUnknown: "perhaps"}.JobType(nil)
	for _, want := range []string{`notify: kind "a:b": `, `Name "a:b" holds ':'`, "Key is nil", "Load is nil", "View is nil", "the service is nil", `OnUnknown is "perhaps"`} {
		assert.ErrorContains(t, err, want)
	}
	_, err = notify.Kind[invoiceReady, invoiceData]{Name: notify.KindWelcome}.JobType(nil)
	assert.ErrorContains(t, err, `Name "welcome" is that of one of the library's kinds`)
	_, err = notify.FanOut[invoiceReady]{}.JobType(nil)
	for _, want := range []string{`notify: fan-out of "invoice_ready": `, "IDs is nil", "Event is nil", "the service is nil"} {
		assert.ErrorContains(t, err, want)
	}
}

// A service without some of the host's interfaces leaves their events alone.
func TestServiceOfAHostThatHasLess(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *notify.MailServiceConfig) {
		c.PasswordResets, c.Purchases, c.Tickets, c.EventDates, c.Outbox = nil, nil, nil, nil, nil
	})
	var names []string
	for _, jobType := range h.service.JobTypes() {
		names = append(names, jobType.Name)
	}
	assert.Equal(t, notify.TypeUserRegistered, strings.Join(names, " "))
	for want, send := range map[string]func() error{
		"PasswordResets": func() error { return h.service.SendPasswordReset(t.Context(), requested) },
		"Purchases":      func() error { return h.service.SendPurchaseConfirmed(t.Context(), paid) },
		"EventDates": func() error {
			return h.service.SendEventDateSuspended(t.Context(), notify.EventDateSuspendedPurchase{TenantCode: "acme", EventDateID: "d1", PurchaseID: "p1"})
		},
	} {
		err := send()
		assert.ErrorContains(t, err, "the service has no "+want)
		assert.True(t, retry.IsPermanent(err))
	}
}
