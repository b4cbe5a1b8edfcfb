package notify_test

import (
	"bytes"
	"errors"
	"fmt"
	netmail "net/mail"
	"strings"
	"testing"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail/view"
	"github.com/buzon-go/buzon/internal/mailcheck"
	"github.com/buzon-go/buzon/notify"
)

// pages returns how many pages a valid PDF has.
func pages(t *testing.T, file []byte) int {
	t.Helper()
	require.NoError(t, api.Validate(bytes.NewReader(file), nil))
	n, err := api.PageCount(bytes.NewReader(file), nil)
	require.NoError(t, err)
	return n
}

func TestPurchaseConfirmedAsReceived(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	job := h.awaitEnd(h.publish(paid))
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	message, _ := h.onlyMessage()
	parsed := mailcheck.Wire(t, message.Data)

	assert.Equal(t, netmail.Address{Name: "Acme", Address: "hola@acme.example"}, *parsed.From, "the tenant's identity")
	assert.Contains(t, parsed.Subject, "A-1042")
	for _, part := range []string{parsed.Text, parsed.HTML} {
		for _, want := range []string{"Platea alta", "2.400,00", "jueves, 19 de marzo de 2026", "21:00", "Montevideo", "Teatro de Verano", "https://acme.example/compras/1042"} {
			assert.Contains(t, part, want)
		}
	}
	require.Len(t, parsed.Attachments, 1, "one PDF for the purchase")
	assert.Equal(t, "Entradas de la compra número A-1042.pdf", parsed.Attachments[0].Name)
	assert.Equal(t, "application/pdf", parsed.Attachments[0].ContentType)
	unfolded := strings.ReplaceAll(string(message.Data), "\r\n ", " ")
	assert.Contains(t, unfolded, `filename="Entradas de la compra numero A-1042.pdf"`, "for readers that know ASCII only")
	assert.Contains(t, unfolded, "filename*=UTF-8''Entradas%20", "RFC 2231")
	assert.Equal(t, 2, pages(t, parsed.Attachments[0].Content))

	record, err := h.mailer.GetDelivery(t.Context(), "acme", "purchase-confirmed:p1")
	require.NoError(t, err)
	assert.Equal(t, record.MessageID, parsed.MessageID)
}

func TestPurchaseWithAnyNumberOfTickets(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	for i, n := range []int{0, 1, 60} {
		id := fmt.Sprint("n", n)
		h.host.set(func(host *host) {
			host.purchases["acme/"+id] = host.purchases["acme/p1"]
			host.tickets["acme/"+id] = notify.PurchaseTickets{Tickets: sampleTickets(n)}
		})
		job := h.awaitEnd(h.publish(notify.PurchasePaid{TenantCode: "acme", PurchaseID: id}))
		require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
		message, ok := h.server.Message(i + 1)
		require.True(t, ok)
		parsed := mailcheck.Wire(t, message.Data)
		if n == 0 {
			assert.Empty(t, parsed.Attachments)
			assert.NotContains(t, parsed.Text, "PDF")
			continue
		}
		require.Len(t, parsed.Attachments, 1)
		assert.Equal(t, n, pages(t, parsed.Attachments[0].Content))
		assert.Contains(t, parsed.Text, "PDF")
	}
}

// A host's finished documents become one.
func TestTicketsOfTheHost(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	drawn := func(n int) []byte {
		h.host.set(func(host *host) { host.tickets["acme/p1"] = notify.PurchaseTickets{Tickets: sampleTickets(n)} })
		file, err := h.service.TicketsPDF(t.Context(), "acme", "p1", "")
		require.NoError(t, err)
		return file
	}
	one, three := drawn(1), drawn(3)
	h.host.set(func(host *host) { host.tickets["acme/p1"] = notify.PurchaseTickets{PDFs: [][]byte{one, three}} })
	job := h.awaitEnd(h.publish(paid))
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	message, _ := h.onlyMessage()
	parsed := mailcheck.Wire(t, message.Data)
	require.Len(t, parsed.Attachments, 1)
	assert.Equal(t, 4, pages(t, parsed.Attachments[0].Content))

	for want, tickets := range map[string]notify.PurchaseTickets{
		"there are both Tickets and PDFs": {Tickets: sampleTickets(1), PDFs: [][]byte{one}},
		"PDFs[1] is empty":                {PDFs: [][]byte{one, nil}},
		"PDF":                             {PDFs: [][]byte{one, []byte("no document")}},
		"Tickets[0].Code":                 {Tickets: []notify.Ticket{{EventDate: sampleDate(1)}}},
		"Tickets[1].EventDate: StartsAt":  {Tickets: []notify.Ticket{sampleTickets(1)[0], {Code: "1", EventDate: notify.EventDate{Name: "x"}}}},
		"Price: ":                         {Tickets: []notify.Ticket{{Code: "1", EventDate: sampleDate(1), Price: view.Money{Minor: 1, Currency: "ABC"}}}},
	} {
		h.host.set(func(host *host) {
			host.purchases["acme/bad"], host.tickets["acme/bad"] = host.purchases["acme/p1"], tickets
		})
		job := h.awaitEnd(h.publish(notify.PurchasePaid{TenantCode: "acme", PurchaseID: "bad"}))
		assert.Equal(t, delivery.StateFailed, job.State, want)
		assert.Contains(t, job.LastError, want)
		assert.EqualValues(t, 1, job.LeaseNumber, "%s: no retry mends it", want)
	}
}

// Whatever tickets say, they are drawn.
func TestTicketsOfManyScripts(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, text := range map[string]string{
		"long":          strings.Repeat("Maximiliano de los Ángeles ", 12),
		"without space": strings.Repeat("W", 300),
		"right to left": "محمد بن عبد الله שלום",
		"emoji":         "Ana 👩‍👧‍👦 🎫 ❤️",
		"Latin":         "Łukasz Muñoz Ağaoğlu Nguyễn Þór",
		"control":       "a\x00b\r\nc\u202Ed",
		"nothing":       "\u200b",
	} {
		ticket := sampleTickets(1)[0]
		ticket.Holder, ticket.Seat, ticket.Kind = text, text, text
		ticket.EventDate.Venue, ticket.EventDate.Address = text, text
		if name != "nothing" {
			ticket.EventDate.Name = text
		}
		h.host.set(func(host *host) { host.tickets["acme/p1"] = notify.PurchaseTickets{Tickets: []notify.Ticket{ticket}} })
		file, err := h.service.TicketsPDF(t.Context(), "acme", "p1", "pt-BR")
		require.NoError(t, err, name)
		assert.Equal(t, 1, pages(t, file), name)
	}
}

func TestTicketsPDFIsTheOneAttached(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.service.SendPurchaseConfirmed(t.Context(), paid))
	message, _ := h.onlyMessage()
	file, err := h.service.TicketsPDF(t.Context(), "acme", "p1", "")
	require.NoError(t, err)
	assert.Equal(t, mailcheck.Wire(t, message.Data).Attachments[0].Content, file, "the same bytes, also at a second attempt")

	h.host.set(func(host *host) { host.tickets["acme/p1"] = notify.PurchaseTickets{} })
	file, err = h.service.TicketsPDF(t.Context(), "acme", "p1", "")
	require.NoError(t, err)
	assert.Nil(t, file)
	_, err = h.service.TicketsPDF(t.Context(), "acme", "p2", "")
	assert.ErrorIs(t, err, notify.ErrNotFound)
}

// A purchase that was annulled before its e-mail was due gets none.
func TestPurchaseThatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	h.host.set(func(host *host) {
		purchase := host.purchases["acme/p1"]
		purchase.Cancelled = true
		host.purchases["acme/p1"] = purchase
	})
	job := h.awaitEnd(h.publish(paid))
	assert.Equal(t, delivery.StateCompleted, job.State)
	assert.Equal(t, "the purchase was cancelled", job.SkipReason)

	for want, change := range map[string]func(*notify.Purchase){
		"Number is empty":                  func(p *notify.Purchase) { p.Number = " \n" },
		"URL ":                             func(p *notify.Purchase) { p.URL = "javascript:alert(1)" },
		"Total: ":                          func(p *notify.Purchase) { p.Total.Currency = "pesos" },
		"Items[0].Description is empty":    func(p *notify.Purchase) { p.Items[0].Description = "" },
		`load the tickets of purchase "x"`: func(*notify.Purchase) {},
	} {
		h.host.set(func(host *host) {
			purchase := newHost().purchases["acme/p1"]
			change(&purchase)
			host.purchases["acme/x"] = purchase
		})
		job := h.awaitEnd(h.publish(notify.PurchasePaid{TenantCode: "acme", PurchaseID: "x"}))
		assert.Equal(t, delivery.StateFailed, job.State, want)
		assert.Contains(t, job.LastError, want)
	}
	assert.Zero(t, h.server.Accepted())
}

// Every text that comes from the host is shown as text, and changes neither
// headers nor markup.
func TestHostileTextsOfTheHost(t *testing.T) {
	t.Parallel()
	const hostile = `"><script>alert('1')</script>{{.Brand}}&amp;</td>` + "\r\nBcc: x@evil.example\r\n\r\nbody\x00\u202E"
	tame := func(text string) func(string) string { return func(string) string { return text } }
	render := func(change func(string) string) (map[string]mailcheck.Parsed, error) {
		h := newHouse(t)
		h.host.set(func(host *host) {
			tenant := host.tenants["acme"]
			b := &tenant.Brand
			b.Name, b.Footer, b.From.Name, b.ReplyTo.Name = change(b.Name), change("pie"), change(b.From.Name), change("r")
			host.tenants["acme"] = tenant
			purchase := host.purchases["acme/p1"]
			purchase.Number, purchase.Items[0].Description = change("1"), change("x")
			// A name with a link would be left out, which is another test's.
			purchase.Buyer.Name = strings.ReplaceAll(change("Ana"), "@evil.example", "")
			host.purchases["acme/p1"] = purchase
			for _, id := range []string{"acme/d1", "acme/d2"} {
				date := host.dates[id]
				date.Name, date.Venue, date.Address, date.Notice = change("n"), change("v"), change("a"), change("aviso")
				host.dates[id] = date
			}
			ticket := sampleTickets(1)[0]
			ticket.Holder, ticket.Seat, ticket.Kind, ticket.EventDate.Name = change("h"), change("s"), change("k"), change("e")
			host.tickets["acme/p1"] = notify.PurchaseTickets{Tickets: []notify.Ticket{ticket}}
		})
		var faults error
		for _, send := range []func() error{
			func() error { return h.service.SendPurchaseConfirmed(t.Context(), paid) },
			func() error {
				return h.service.SendEventDateRescheduled(t.Context(), notify.EventDateRescheduledPurchase{
					TenantCode: "acme", SourceEventDateID: "d1", DestinationEventDateID: "d2", PurchaseID: "p1",
				})
			},
			func() error {
				return h.service.SendEventDateSuspended(t.Context(), notify.EventDateSuspendedPurchase{
					TenantCode: "acme", EventDateID: "d1", PurchaseID: "p1",
				})
			},
			func() error {
				_, err := h.service.SendTest(t.Context(), notify.TestRequest{TenantCode: "acme"})
				return err
			},
		} {
			faults = errors.Join(faults, send())
		}
		all := map[string]mailcheck.Parsed{}
		for i, message := range h.server.Messages() {
			all[fmt.Sprint(i)] = mailcheck.Wire(t, message.Data)
		}
		return all, faults
	}
	// Two lines, as the hostile text has.
	plain, err := render(func(text string) string {
		if text == "pie" || text == "aviso" {
			return text + "\n" + text + "\n" + text
		}
		return text
	})
	require.NoError(t, err)
	wild, err := render(tame(hostile))
	require.NoError(t, err)
	require.Len(t, wild, 4)
	for name, parsed := range wild {
		var want, got []string
		for _, tag := range elements(plain[name].HTML) {
			want = append(want, tag.Data)
		}
		for _, tag := range elements(parsed.HTML) {
			got = append(got, tag.Data)
		}
		assert.Equal(t, want, got, name)
		assert.NotContains(t, parsed.Text, "\x00", name)
		assert.NotContains(t, parsed.HTML+parsed.Text, "\u202E", name)
		assert.Contains(t, parsed.Text, `"><script>alert('1')</script>{{.Brand}}&amp;</td> Bcc: x@evil.example body`, name)
		assert.NotContains(t, parsed.Subject, "\n", name)
	}
}

// Headers hold whatever people and companies are called.
func TestNamesInHeaders(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for i, name := range []string{
		`Pérez, Ana (contaduría)`, `O"Neill \ Hijos`, `Ana <ana> ; b`, "Ана Петрова", "山田太郎", "Ana 👩‍👧 🎫", "محمد", "=?utf-8?q?x?=", strings.Repeat("Ñandú ", 12),
	} {
		id := fmt.Sprint("u", i)
		h.host.set(func(host *host) {
			host.users["acme/"+id] = notify.User{Name: name, Email: "ana@münchen.example"}
			tenant := host.tenants["acme"]
			tenant.Brand.From = netmail.Address{Name: name, Address: "hola@ñandú.example"}
			host.tenants["acme"] = tenant
		})
		require.NoError(t, h.service.SendWelcome(t.Context(), notify.UserRegistered{TenantCode: "acme", UserID: id}), name)
		message, ok := h.server.Message(i + 1)
		require.True(t, ok)
		parsed := mailcheck.Wire(t, message.Data)
		assert.Equal(t, strings.TrimSpace(name), parsed.From.Name)
		assert.Equal(t, "hola@xn--and-6ma2c.example", parsed.From.Address, "punycode")
		require.Len(t, parsed.To, 1, name)
		assert.Equal(t, "ana@xn--mnchen-3ya.example", parsed.To[0].Address)
		assert.True(t, strings.HasSuffix(parsed.MessageID, "@xn--and-6ma2c.example"), parsed.MessageID)
	}
}
