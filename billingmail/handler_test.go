package billingmail_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/retry"
)

func refuse(socio int, code int, enhanced string, times int) smtptest.Rule {
	return smtptest.Rule{
		At: smtptest.Rcpt, Recipient: fmt.Sprintf("socio%d@members.example", socio), Times: times,
		Reply: smtptest.Reply{Code: code, Enhanced: enhanced, Text: "no"},
	}
}

// Only what can pass is tried again, and the job ends well when anything was
// sent.
func TestPartOfALoteFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.server.SetRules(refuse(2, 550, "5.1.1", 0), refuse(3, 451, "4.3.0", 1), refuse(4, 451, "4.3.0", 0)))
	h.addLote("norte", 7, "completado", nil, members(5))
	h.run()
	job := h.awaitEnd(h.resend(7).JobID)
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	assert.Equal(t, 5, job.RetryCount)
	assert.Equal(t, billingmail.Resumen{Enviado: 3, Error: 2}, h.resumen(7))
	assert.Equal(t, 1, h.entry(7, 2).Intentos, "refused for good")
	assert.Equal(t, 2, h.entry(7, 3).Intentos)
	assert.Equal(t, 6, h.entry(7, 4).Intentos)
	assert.False(t, *h.entry(7, 2).Reintentable)
	assert.True(t, *h.entry(7, 4).Reintentable)
	assert.Equal(t, 1, h.received()["socio1@members.example"], "nobody twice")
}

func TestAllOfALoteFails(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Mail, Reply: smtptest.Reply{Code: 451, Text: "later"}}))
	h.addLote("norte", 7, "completado", nil, members(3))
	h.delay = time.Hour
	h.run()
	started := h.resend(7)
	job := h.await(started.JobID, func(j *delivery.Job) bool { return j.State == delivery.StatePending && j.RetryCount == 1 })
	assert.Contains(t, job.LastError, "billingmail: lote 7: all 3 deliveries failed")
	assert.InDelta(t, time.Hour.Seconds(), time.Until(job.NextRetryAt).Seconds(), 120)
	progress, err := h.service.Progress(t.Context(), "norte", 7)
	require.NoError(t, err)
	assert.True(t, progress.Active)
	assert.Equal(t, 1, progress.RetryCount)
	assert.False(t, progress.NextRetryAt.IsZero())

	require.NoError(t, h.server.SetRules())
	require.NoError(t, h.queue.RetryNow(t.Context(), started.JobID))
	assert.Equal(t, delivery.StateCompleted, h.awaitEnd(started.JobID).State)
	for address, n := range h.received() {
		assert.Equal(t, 1, n, address)
	}
	assert.Equal(t, billingmail.Resumen{Enviado: 3}, h.resumen(7))
}

// Nobody can be reached for good: there is nothing to wait for.
func TestAllOfALoteIsRefusedForGood(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.server.SetRules(refuse(1, 550, "5.1.1", 0), refuse(2, 550, "5.1.1", 0)))
	h.addLote("norte", 7, "completado", nil, members(2))
	h.run()
	job := h.awaitEnd(h.resend(7).JobID)
	assert.Equal(t, delivery.StateFailed, job.State)
	assert.Zero(t, job.RetryCount)
	assert.Equal(t, billingmail.Resumen{Error: 2}, h.resumen(7))
}

func TestAllFailedIsAnErrorType(t *testing.T) {
	t.Parallel()
	cause := &mail.SendError{Phase: mail.PhaseAuth, Code: 535}
	err := error(&billingmail.SmtpDeliveryAllFailed{LoteID: 7, Failed: 3, Last: cause})
	assert.ErrorContains(t, err, "all 3 deliveries failed")
	found, ok := errors.AsType[*mail.SendError](err)
	assert.True(t, ok)
	assert.Equal(t, 535, found.Code)
}

// The reply to the last byte was lost: nobody knows, and nobody gets it twice.
func TestUnknownOutcomeOfAnEntry(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Dot, Recipient: "socio2@members.example", Drop: true}))
	h.addLote("norte", 7, "completado", nil, members(3))
	h.run()
	job := h.awaitEnd(h.resend(7).JobID)
	assert.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	unknown := h.entry(7, 2)
	assert.Equal(t, billingmail.Error, unknown.Estado)
	assert.True(t, strings.HasPrefix(unknown.ErrorDetalle, "resultado desconocido"), unknown.ErrorDetalle)
	assert.False(t, *unknown.Reintentable)
	assert.Equal(t, 1, h.received()["socio2@members.example"])
}

// A runner that stops releases its lote; another goes on with what is left.
func TestLoteGoesOnElsewhere(t *testing.T) {
	t.Parallel()
	const total = 60
	h := newHouse(t, func(c *billingmail.Config) { c.Connections = 2 })
	hold := smtptest.NewHold()
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Rcpt, Recipient: "socio30@members.example", Hold: hold, Times: 1}))
	h.addLote("norte", 7, "completado", nil, members(total))
	stop := h.run()
	started := h.resend(7)
	select {
	case <-hold.Reached():
	case <-time.After(patience):
		require.FailNow(t, "the lote did not get there")
	}
	time.AfterFunc(200*time.Millisecond, hold.Release) // while the runner stops
	stop()
	job, err := h.queue.GetJob(t.Context(), started.JobID)
	require.NoError(t, err)
	if !job.State.Final() {
		assert.Equal(t, delivery.StatePending, job.State, "released")
		assert.Zero(t, job.RetryCount)
	}
	h.run()
	require.Equal(t, delivery.StateCompleted, h.awaitEnd(started.JobID).State)
	assert.Equal(t, billingmail.Resumen{Enviado: total}, h.resumen(7))
	got := h.received()
	assert.Len(t, got, total)
	for address, n := range got {
		assert.Equal(t, 1, n, address)
	}
}

// Cancelling ends what is under way, and omits the rest.
func TestCancelRunningLote(t *testing.T) {
	t.Parallel()
	const total = 40
	h := newHouse(t, func(c *billingmail.Config) { c.Connections = 1 })
	hold := smtptest.NewHold()
	t.Cleanup(hold.Release)
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Rcpt, Recipient: "socio5@members.example", Hold: hold}))
	h.addLote("norte", 7, "completado", nil, members(total))
	h.run()
	started := h.resend(7)
	<-hold.Reached()
	jobID, ended, err := h.service.Cancel(t.Context(), "norte", 7, "María")
	require.NoError(t, err)
	assert.Equal(t, started.JobID, jobID)
	assert.False(t, ended)
	job := h.awaitEnd(jobID) // what is under way has some seconds, and no more
	assert.Equal(t, delivery.StateCancelled, job.State)
	assert.Equal(t, "María", job.CancelledBy)
	resumen := h.resumen(7)
	assert.Zero(t, resumen.Pendiente)
	assert.Equal(t, 4, resumen.Enviado)
	assert.Equal(t, len(h.received()), resumen.Enviado, "what was sent is on record as sent")
	assert.Equal(t, "cancelado por María", h.entry(7, total).ErrorDetalle)
	_, _, err = h.service.Cancel(t.Context(), "norte", 7, "María")
	assert.ErrorIs(t, err, billingmail.ErrNotActive)
}

// With prueba no member is written to, whoever says so; the lote's word counts.
func TestPrueba(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		request any
		asked   bool
		test    bool
	}{
		{map[string]any{"prueba": true}, false, true}, {map[string]any{"prueba": true}, true, true},
		{map[string]any{"prueba": false}, true, false}, {map[string]any{}, true, true},
		{map[string]any{}, false, false}, {nil, true, true}, {map[string]any{"prueba": "sí"}, true, true},
	} {
		t.Run(fmt.Sprint(c.request, c.asked), func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, func(config *billingmail.Config) { config.TestInbox = "pruebas@club.example" })
			h.addLote("norte", 7, "completado", c.request, members(8))
			h.run()
			started, err := h.service.Resend(t.Context(), billingmail.ResendRequest{Schema: "norte", LoteID: 7, Prueba: c.asked, RequestedBy: "clerk"})
			require.NoError(t, err)
			job := h.awaitEnd(started.JobID)
			require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
			if !c.test {
				assert.Equal(t, billingmail.Resumen{Enviado: 8}, h.resumen(7))
				assert.Len(t, h.received(), 8)
				return
			}
			assert.Equal(t, billingmail.Resumen{Omitido: 8}, h.resumen(7))
			assert.Equal(t, "prueba: no se escribe a los socios", h.entry(7, 1).ErrorDetalle)
			assert.Equal(t, map[string]int{"pruebas@club.example": 5}, h.received())
			for _, message := range h.server.Messages() {
				parsed, err := message.Parse()
				require.NoError(t, err)
				assert.Contains(t, parsed.Subject, "[PRUEBA]")
			}
		})
	}
}

// The hook's files go out, and its errors stay with their entry.
func TestAttachmentsOfTheHost(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *billingmail.Config) {
		c.Attachments = func(_ context.Context, _ string, _ int64, entry billingmail.Entry) ([]mail.Attachment, error) {
			switch entry.SocioID {
			case 2:
				return nil, retry.Permanent(errors.New("no such voucher"))
			case 3:
				return nil, nil
			}
			return []mail.Attachment{{Name: "Factura número 1.pdf", ContentType: "application/pdf", Content: []byte("%PDF")}}, nil
		}
	})
	h.addLote("norte", 7, "completado", nil, members(3))
	h.run()
	require.Equal(t, delivery.StateCompleted, h.awaitEnd(h.resend(7).JobID).State)
	assert.Equal(t, "no se pudo preparar el mensaje", h.entry(7, 2).ErrorDetalle)
	for _, message := range h.server.Messages() {
		parsed, err := message.Parse()
		require.NoError(t, err)
		if message.To[0] == "socio1@members.example" {
			assert.Len(t, parsed.Attachments, 1)
			assert.Contains(t, parsed.Text, "Los comprobantes van adjuntos.")
		} else {
			assert.Empty(t, parsed.Attachments)
		}
	}
}
