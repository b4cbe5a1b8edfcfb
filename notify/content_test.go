package notify_test

import (
	"fmt"
	netmail "net/mail"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/notify"
)

// addressIn returns the one address of a header field.
func addressIn(t *testing.T, parsed smtptest.Parsed, field string) netmail.Address {
	t.Helper()
	list, err := parsed.Header.AddressList(field)
	require.NoError(t, err)
	require.Len(t, list, 1, field)
	return *list[0]
}

func TestWelcomeAsReceived(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	h.awaitEnd(h.publish(registered))
	message, parsed := h.onlyMessage()

	assert.Equal(t, "hola@acme.example", message.From)
	assert.Equal(t, []string{address}, message.To)
	assert.Equal(t, netmail.Address{Name: "Acme", Address: "hola@acme.example"}, addressIn(t, parsed, "From"))
	assert.Equal(t, netmail.Address{Address: "respuestas@acme.example"}, addressIn(t, parsed, "Reply-To"))
	assert.Equal(t, netmail.Address{Name: "Ana Pérez", Address: address}, addressIn(t, parsed, "To"))
	assert.Equal(t, "auto-generated", parsed.Header.Get("Auto-Submitted"))
	assert.Equal(t, "OOF, AutoReply", parsed.Header.Get("X-Auto-Response-Suppress"))

	record, err := h.mailer.GetDelivery(t.Context(), "acme", "welcome:acme:7")
	require.NoError(t, err)
	assert.Equal(t, record.MessageID, parsed.MessageID)
	assert.True(t, strings.HasSuffix(parsed.MessageID, "@acme.example"), "the domain is the sender's")

	assert.Equal(t, "Te damos la bienvenida a Acme & Hijos", parsed.Subject)
	assert.Contains(t, parsed.Text, "Hola, Ana Pérez:")
	assert.Contains(t, parsed.Text, "https://acme.example/inicio?a=1&b=2")
	assert.Contains(t, parsed.Text, "Acme S.A.\r\nRUT 21 000000 0012")
	assert.Contains(t, parsed.HTML, `<html lang="es" dir="ltr">`)
	assert.Contains(t, parsed.HTML, "Acme &amp; Hijos")
	assert.Contains(t, parsed.HTML, `href="https://acme.example/inicio?a=1&amp;b=2"`)
	assert.Contains(t, parsed.HTML, "background-color:#ffd400")
	assert.Contains(t, parsed.HTML, `href="mailto:ayuda&#43;web@acme.example"`)
	assert.Empty(t, parsed.Attachments)
}

func TestPasswordResetAsReceived(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("America/Montevideo")
	require.NoError(t, err)
	h := newHouse(t)
	expires := time.Date(time.Now().Year()+1, time.March, 19, 18, 4, 59, 0, time.UTC)
	h.host.set(func(host *host) {
		tenant := host.tenants["acme"]
		tenant.TimeZone = zone
		host.tenants["acme"] = tenant
		reset := host.resets["acme/a1"]
		reset.ExpiresAt = expires
		host.resets["acme/a1"] = reset
	})
	h.run()
	h.awaitEnd(h.publish(requested))
	_, parsed := h.onlyMessage()

	assert.Equal(t, "Restablecer la contraseña de tu cuenta en Acme & Hijos", parsed.Subject)
	validity := "Vence el 19 de marzo de " + expires.Format("2006") + " a las 15:04 (America/Montevideo)."
	for _, part := range []string{parsed.Text, parsed.HTML} {
		assert.Contains(t, part, "483920")
		assert.Contains(t, part, validity)
		assert.Contains(t, part, "¿No pediste este cambio?")
	}
	preview, _, found := strings.Cut(parsed.HTML[strings.Index(parsed.HTML, "<body"):], "</div>")
	require.True(t, found)
	assert.Contains(t, preview, "el código para elegir una contraseña nueva")
	assert.NotContains(t, preview, "483920", "previews show on locked screens")
}

// Account e-mails look like the WebsiteType, or else like the tenant.
func TestWhoseBrand(t *testing.T) {
	t.Parallel()
	site := notify.Brand{
		Name: "Portal", PrimaryColor: "#123456", From: netmail.Address{Address: "no-responder@portal.example"},
	}
	siteWithoutAddress := site
	siteWithoutAddress.From = netmail.Address{}
	h := newHouse(t)
	h.run()
	for name, c := range map[string]struct {
		websiteType *notify.WebsiteType
		subject     string
		color       string
		from        netmail.Address
		replyTo     string
	}{
		"tenant": {nil, "Acme & Hijos", "#ffd400", netmail.Address{Name: "Acme", Address: "hola@acme.example"}, "respuestas@acme.example"},
		"WebsiteType": {
			&notify.WebsiteType{Brand: site}, "Portal", "#123456",
			netmail.Address{Name: "Portal", Address: "no-responder@portal.example"}, "",
		},
		"WebsiteType by the tenant's address": {
			&notify.WebsiteType{Brand: siteWithoutAddress}, "Portal", "#123456",
			netmail.Address{Name: "Portal", Address: "hola@acme.example"}, "respuestas@acme.example",
		},
	} {
		id := fmt.Sprint("u", h.server.Accepted())
		h.host.set(func(host *host) {
			host.tenants["acme"] = notify.Tenant{Brand: acmeBrand(), WebsiteType: c.websiteType}
			host.users["acme/"+id], host.resets["acme/"+id] = host.users["acme/7"], host.resets["acme/a1"]
		})
		for _, event := range []notify.Event{
			notify.UserRegistered{TenantCode: "acme", UserID: id}, notify.PasswordResetRequested{TenantCode: "acme", AttemptID: id},
		} {
			h.awaitEnd(h.publish(event))
			message, ok := h.server.Message(h.server.Accepted())
			require.True(t, ok)
			parsed, err := message.Parse()
			require.NoError(t, err)
			assert.True(t, strings.HasSuffix(parsed.Subject, " "+c.subject), "%s: %s", name, parsed.Subject)
			assert.Contains(t, parsed.HTML, c.color, name)
			assert.Equal(t, c.from, addressIn(t, parsed, "From"), name)
			if c.replyTo == "" {
				assert.False(t, parsed.Header.Has("Reply-To"), name)
			} else {
				assert.Equal(t, c.replyTo, addressIn(t, parsed, "Reply-To").Address, name)
			}
		}
	}
	assert.Equal(t, 6, h.server.Accepted())
}

// A brand that cannot be used fails the job, and says which field of which
// brand it is.
func TestBrandThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.host.set(func(host *host) {
		host.tenants["acme"] = notify.Tenant{Brand: notify.Brand{Name: "Acme", PrimaryColor: "azul"}}
		site := acmeBrand()
		site.LogoURL = "javascript:alert(1)"
		host.tenants["beta"] = notify.Tenant{Brand: acmeBrand(), WebsiteType: &notify.WebsiteType{Brand: site}}
	})
	h.run()
	job := h.awaitEnd(h.publish(registered))
	assert.Equal(t, delivery.StateFailed, job.State)
	assert.EqualValues(t, 1, job.LeaseNumber)
	assert.Contains(t, job.LastError, `notify: Brand of tenant "acme": PrimaryColor is "azul"; want #rrggbb`)
	assert.Contains(t, job.LastError, "From: the e-mail address is empty")

	job = h.awaitEnd(h.publish(notify.PasswordResetRequested{TenantCode: "beta", AttemptID: "a1"}))
	assert.Equal(t, delivery.StateFailed, job.State)
	assert.Contains(t, job.LastError, `notify: WebsiteType.Brand of tenant "beta": LogoURL "javascript:alert(1)" is no http or https URL`)

	// Mended, and sent by hand.
	h.host.set(func(host *host) { host.tenants["beta"] = notify.Tenant{Brand: acmeBrand()} })
	h.host.set(func(host *host) { host.resets["beta/a1"] = host.resets["acme/a1"] })
	require.NoError(t, h.queue.RetryNow(t.Context(), job.ID))
	assert.Equal(t, delivery.StateCompleted, h.awaitEnd(job.ID).State)
	h.onlyMessage()
}

// Names are text, whatever is in them, all the way to the reader.
func TestNamesAreText(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.run()
	for i, c := range []struct{ name, shown string }{
		{"<b>Ana</b> & \"Co\" 'x'", "<b>Ana</b> & \"Co\" 'x'"},
		{"Ana\r\nBcc: all@members.example", ""}, // an address is what makes it suspect
		{"Ana\r\nX-Injected: yes", "Ana X-Injected: yes"},
		{"{{.Code}} ${x} %s", "{{.Code}} ${x} %s"},
		{"=?utf-8?q?Ana?=", "=?utf-8?q?Ana?="},
		{"Ana, Beto <3 (los dos); \\", "Ana, Beto <3 (los dos); \\"},
		{"\u202Eanna\u2066 \u0645\u062D\u0645\u062F", "anna محمد"},
		{"Ana 🎉👩‍👧", "Ana 🎉👩‍👧"},
		{"\x00\xff\u200b", "\uFFFD"},
		{strings.Repeat("á", 300), strings.Repeat("á", 79) + "…"},
		{"gane en http://malo.example", ""},
		{"  \t ", ""},
	} {
		id := string(rune('a' + i))
		h.host.set(func(host *host) { host.users["acme/"+id] = notify.User{Name: c.name, Email: address} })
		job := h.awaitEnd(h.publish(notify.UserRegistered{TenantCode: "acme", UserID: id}))
		require.Equal(t, delivery.StateCompleted, job.State, "%q: %s", c.name, job.LastError)
		require.Equal(t, i+1, h.server.Accepted())
		message, ok := h.server.Message(i + 1)
		require.True(t, ok)
		parsed, err := message.Parse()
		require.NoError(t, err)
		assert.Equal(t, netmail.Address{Name: c.shown, Address: address}, addressIn(t, parsed, "To"))
		assert.False(t, parsed.Header.Has("Bcc"))
		assert.False(t, parsed.Header.Has("X-Injected"))
		greeting := "Hola:\r\n"
		if c.shown != "" {
			greeting = "Hola, " + c.shown + ":\r\n"
		}
		assert.True(t, strings.HasPrefix(parsed.Text, greeting), "%q: %.120q", c.name, parsed.Text)
		assert.NotContains(t, parsed.HTML, "<b>")
		assert.NotContains(t, parsed.HTML, "malo.example")
	}
}
