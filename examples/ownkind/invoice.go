package main

import (
	"context"
	"embed"
	"io/fs"
	"time"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/notify"
)

// InvoiceReady is the event: identifiers only.
type InvoiceReady struct{ TenantCode, InvoiceID string }

func (InvoiceReady) Type() notify.EventType { return notify.EventType{JobType: "invoice_ready"} }
func (e InvoiceReady) Tenant() string       { return e.TenantCode }
func (e InvoiceReady) Validate() error      { return mail.CheckKeyPart(e.InvoiceID) }

// An Invoice is what the view shows.
type Invoice struct {
	Number string
	Total  view.Money
	DueAt  time.Time
}

//go:embed views
var files embed.FS

// newInvoiceKind returns the e-mail of an invoice that is ready; load finds it.
func newInvoiceKind(load func(context.Context, InvoiceReady, notify.Tenant) (notify.Email[Invoice], error)) (notify.Kind[InvoiceReady, Invoice], error) {
	own, err := fs.Sub(files, "views")
	if err != nil {
		return notify.Kind[InvoiceReady, Invoice]{}, err
	}
	rendered, err := view.New(view.Files{own}, "invoice", Invoice{Number: "1", DueAt: time.Now()})
	return notify.Kind[InvoiceReady, Invoice]{
		Name: "invoice-ready", Load: load, View: rendered,
		Key: func(e InvoiceReady) []string { return []string{e.InvoiceID} },
	}, err
}
