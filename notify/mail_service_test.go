package notify_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/notify"
	"github.com/buzon-go/buzon/retry"
)

func TestNewMailServiceNamesEveryFault(t *testing.T) {
	t.Parallel()
	_, err := notify.NewMailService(notify.MailServiceConfig{
		OnUnknown: map[string]mail.UnknownPolicy{"welcom": mail.Hold, notify.KindPasswordReset: "perhaps"},
	})
	for _, part := range []string{
		"notify: mail service: ", "Mailer is nil", "Tenants is nil", "there is nothing to send",
		`there is no kind "welcom"`, `OnUnknown["password-reset"] is "perhaps"`,
	} {
		assert.ErrorContains(t, err, part)
	}
}

// Interfaces that go together.
func TestNewMailServiceWantsWholeGroups(t *testing.T) {
	t.Parallel()
	host := newHost()
	for want, config := range map[string]notify.MailServiceConfig{
		"Tickets is nil; a host without tickets gives NoTickets": {Purchases: host},
		"Purchases is nil, which Tickets and EventDates need":    {Users: host, Tickets: host},
		"Outbox is nil, which EventDates needs":                  {Purchases: host, Tickets: notify.NoTickets{}, EventDates: host},
		"LoadTimeout is negative":                                {Users: host, LoadTimeout: -1},
	} {
		_, err := notify.NewMailService(config)
		assert.ErrorContains(t, err, want)
	}
}

// A host may call the service without a job.
func TestServiceWithoutAJob(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.service.SendWelcome(t.Context(), registered))
	require.NoError(t, h.service.SendWelcome(t.Context(), registered), "sent before")
	h.onlyMessage()

	err := h.service.SendPasswordReset(t.Context(), notify.PasswordResetRequested{TenantCode: "acme"})
	assert.ErrorContains(t, err, `AttemptID "" is empty`)
	assert.True(t, retry.IsPermanent(err))
	err = h.service.SendWelcome(t.Context(), notify.UserRegistered{UserID: "7"})
	assert.ErrorContains(t, err, `TenantCode "" is empty`)
	assert.True(t, retry.IsPermanent(err))

	h.host.set(func(host *host) { host.users["acme/8"] = notify.User{} })
	err = h.service.SendWelcome(t.Context(), notify.UserRegistered{TenantCode: "acme", UserID: "8"})
	reason, skipped := delivery.SkipReason(err)
	assert.True(t, skipped)
	assert.Equal(t, "the user has no e-mail address", reason)
}
