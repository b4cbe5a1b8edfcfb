package billingmail

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	netmail "net/mail"
	"slices"
	"strconv"
	"time"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/retry"
)

// FacturaData is what the view "factura" shows.
type FacturaData struct {
	Comprobantes []ComprobanteData
	Totales      []view.Money // of each currency, in the order of the vouchers
	Vencimiento  time.Time    // the first one; zero for none
	Adjuntos     bool         // files are attached
	Prueba       bool         // it goes to the test inbox
}

// ComprobanteData is a voucher as the view shows it.
type ComprobanteData struct {
	Tipo, Numero string
	Importe      view.Money
	Vencimiento  time.Time // zero for none
	URL          string    // empty for none
}

//go:embed views
var embedded embed.FS

func newView(own fs.FS) (*view.View[FacturaData], error) {
	files, err := fs.Sub(embedded, "views")
	if err != nil {
		return nil, err
	}
	rendered, err := view.New(view.Files{own, files}, "factura", samples()...)
	if own != nil {
		err = errors.Join(err, view.CheckNames(own, "factura"))
	}
	return rendered, err
}

func samples() []FacturaData {
	due := time.Date(2026, time.December, 10, 0, 0, 0, 0, time.UTC)
	amount := view.Money{Minor: 145_050, Currency: "UYU"}
	return []FacturaData{
		{
			Comprobantes: []ComprobanteData{
				{Tipo: "Factura", Numero: "A-0001", Importe: amount, Vencimiento: due, URL: "https://club.example/f/1"},
				{Numero: "A-0002"},
			},
			Totales: []view.Money{amount, {Minor: 100, Currency: "USD"}}, Vencimiento: due, Adjuntos: true, Prueba: true,
		},
		{Comprobantes: []ComprobanteData{{Tipo: "Recibo", Numero: "1"}}},
		{},
	}
}

// maxText is how much of a voucher's text is shown, in characters.
const maxText = 100

func facturaData(entry Entry) FacturaData {
	var data FacturaData
	totals := map[string]int{}
	for _, c := range entry.Comprobantes {
		shown := ComprobanteData{Tipo: view.OneLine(c.Tipo, maxText), Numero: view.OneLine(c.Numero, maxText), Importe: c.Importe, URL: c.URL}
		if due, err := time.Parse(dateLayout, c.Vencimiento); err == nil {
			shown.Vencimiento = due
			if data.Vencimiento.IsZero() || due.Before(data.Vencimiento) {
				data.Vencimiento = due
			}
		}
		data.Comprobantes = append(data.Comprobantes, shown)
		if c.Importe.IsZero() {
			continue
		}
		i, known := totals[c.Importe.Currency]
		if !known {
			i = len(data.Totales)
			totals[c.Importe.Currency] = i
			data.Totales = append(data.Totales, view.Money{Currency: c.Importe.Currency})
		}
		data.Totales[i].Minor += c.Importe.Minor
	}
	data.Totales = slices.DeleteFunc(data.Totales, func(total view.Money) bool { return total.Validate() != nil })
	return data
}

// message composes the e-mail of an entry.
func (r *run) message(ctx context.Context, entry Entry) (mail.Message, error) {
	attachments, err := r.attachments(ctx, entry)
	if err != nil {
		return mail.Message{}, fmt.Errorf("attachments: %w", err)
	}
	data := facturaData(entry)
	data.Adjuntos, data.Prueba = len(attachments) > 0, r.prueba
	reader := view.Reader{Name: entry.Nombre, Languages: []string{r.identity.Language}}
	content, err := r.service.view.Render(ctx, r.identity.Brand, reader, data)
	if err != nil {
		return mail.Message{}, retry.Permanent(err)
	}
	address, err := mail.ParseAddress(entry.Email)
	if err != nil {
		return mail.Message{}, retry.Permanent(err)
	}
	brand := r.identity.Brand
	id, err := mail.MessageID(r.job.Tenant, r.messageKey(entry), brand.From.Address)
	if err != nil {
		return mail.Message{}, retry.Permanent(err)
	}
	return mail.Message{
		Tenant: r.job.Tenant, From: brand.Sender(), ReplyTo: brand.Answers(),
		To:      netmail.Address{Name: view.OneLine(entry.Nombre, view.MaxName), Address: address.Address},
		Subject: content.Subject, Text: content.Text, HTML: content.HTML, Attachments: attachments,
		Headers:   []mail.Header{{Name: "X-Auto-Response-Suppress", Value: "OOF, AutoReply"}},
		MessageID: id, Date: r.job.CreatedAt,
	}, nil
}

// messageKey is what the Message-ID comes from: the same at every attempt of the
// job, and another one for a deliberate resend.
func (r *run) messageKey(entry Entry) string {
	key := "lote:" + strconv.FormatInt(r.work.LoteID, 10) + ":" + strconv.FormatInt(entry.SocioID, 10) + ":" + strconv.FormatInt(r.job.ID, 10)
	if r.prueba {
		key += ":prueba:" + strconv.FormatInt(r.job.LeaseNumber, 10)
	}
	return key
}

// attachments asks the host's hook.
func (r *run) attachments(ctx context.Context, entry Entry) ([]mail.Attachment, error) {
	if r.service.config.Attachments == nil {
		return nil, nil
	}
	return r.service.config.Attachments(ctx, r.job.Tenant, r.work.LoteID, entry)
}
