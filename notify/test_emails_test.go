package notify_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/diagnosis"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/internal/mailcheck"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/retry"
)

// Test e-mails go out each time, and leave no record.
func TestTestEmailsAreSentEveryTime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for range 2 {
		for _, send := range []func(context.Context, notify.TestRequest) (notify.TestResult, error){h.service.SendTest, h.service.SendIntegrationValidation} {
			result, err := send(t.Context(), notify.TestRequest{TenantCode: "acme", To: address})
			require.NoError(t, err)
			assert.True(t, result.Accepted())
			assert.NotEmpty(t, result.Explanation)
			assert.NotEmpty(t, result.Server, "relays put their own id there")
		}
	}
	messages := h.server.Messages()
	require.Len(t, messages, 4)
	ids := map[string]bool{}
	for _, message := range messages {
		parsed := mailcheck.Wire(t, message.Data)
		ids[parsed.MessageID] = true
		assert.Equal(t, "hola@acme.example", parsed.From.Address)
		assert.Equal(t, address, parsed.To[0].Address)
	}
	assert.Len(t, ids, 4)
	assert.Zero(t, h.count("SELECT count(*) FROM buzon.email_deliveries"))
	assert.Zero(t, h.jobs())
}

// Nobody named: the tenant's own sender gets it. The language is the one asked
// for, or the tenant's.
func TestTestEmailDefaults(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.host.set(func(host *host) {
		tenant := host.tenants["acme"]
		tenant.Language = "pt-BR"
		host.tenants["acme"] = tenant
	})
	for i, language := range []string{"", "en"} {
		result, err := h.service.SendTest(t.Context(), notify.TestRequest{TenantCode: "acme", Language: language})
		require.NoError(t, err)
		message, ok := h.server.Message(i + 1)
		require.True(t, ok)
		parsed := mailcheck.Wire(t, message.Data)
		assert.Equal(t, "hola@acme.example", parsed.To[0].Address)
		want := language
		if want == "" {
			want = "pt"
		}
		assert.Contains(t, attribute(elements(parsed.HTML)[0], "lang"), want)
		assert.Equal(t, result.Text(want), result.Explanation)
	}
}

// What goes wrong is a result, in words.
func TestTestEmailThatIsRefused(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for _, c := range []struct {
		rule  smtptest.Rule
		cause diagnosis.Cause
	}{
		{smtptest.Rule{At: smtptest.Mail, Reply: smtptest.Reply{Code: 553, Enhanced: "5.1.8", Text: "sender not owned"}}, diagnosis.SenderNotAllowed},
		{smtptest.Rule{At: smtptest.Rcpt, Reply: smtptest.Reply{Code: 550, Enhanced: "5.1.1", Text: "no such user"}}, diagnosis.RecipientRefused},
		{smtptest.Rule{At: smtptest.Dot, Drop: true}, diagnosis.OutcomeUnknown},
	} {
		require.NoError(t, h.server.SetRules(c.rule))
		result, err := h.service.SendTest(t.Context(), notify.TestRequest{TenantCode: "acme", To: address})
		require.NoError(t, err)
		assert.False(t, result.Accepted())
		assert.Equal(t, c.cause, result.Cause)
		assert.NotEmpty(t, result.Explanation)
		assert.NotContains(t, result.Explanation, address)
	}
}

// Settings can be tried before they are saved.
func TestIntegrationThatIsNotSavedYet(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	candidate, err := smtp.New(smtp.Config{Integrations: smtp.Single(smtp.Integration{Host: "mail.club.invalid", TLS: smtp.Plaintext})})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, candidate.Close(context.WithoutCancel(t.Context()))) })
	result, err := h.service.SendIntegrationValidation(t.Context(), notify.TestRequest{TenantCode: "acme", Via: candidate})
	require.NoError(t, err)
	assert.Equal(t, diagnosis.HostNotFound, result.Cause)
	assert.Zero(t, h.server.Accepted())
}

func TestTestRequestThatCannotBeMet(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	_, err := h.service.SendTest(t.Context(), notify.TestRequest{TenantCode: "nobody"})
	require.ErrorIs(t, err, notify.ErrNotFound)
	_, err = h.service.SendTest(t.Context(), notify.TestRequest{TenantCode: "acme", To: "secreta x"})
	assert.ErrorContains(t, err, `notify: test of tenant "acme": To: `)
	assert.NotContains(t, err.Error(), "secreta")
	_, err = h.service.SendTest(t.Context(), notify.TestRequest{TenantCode: "acme", To: " "})
	require.ErrorIs(t, err, mail.ErrNoAddress)
	h.host.set(func(host *host) { host.tenants["acme"] = notify.Tenant{} })
	_, err = h.service.SendIntegrationValidation(t.Context(), notify.TestRequest{TenantCode: "acme"})
	assert.ErrorContains(t, err, `Brand of tenant "acme": Name is empty`)
	assert.True(t, retry.IsPermanent(err))
}
