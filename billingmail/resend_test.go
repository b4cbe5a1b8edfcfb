package billingmail_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/internal/mailcheck"
)

// A whole lote, from the resend to the inbox.
func TestResendWholeLote(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	groups := members(3)
	groups[1]["email"] = ""
	groups = append(groups, member(3), group{"socio_id": 4, "email": "x@members.example", "comprobantes": "none"})
	h.addLote("norte", 7, "completado", map[string]any{"prueba": false}, groups)
	started := h.resend(7)
	assert.Equal(t, 2, started.EntriesCount)
	assert.Equal(t, billingmail.Resumen{Pendiente: 2, Omitido: 2}, h.resumen(7), "the work shows at once")
	assert.Equal(t, "sin dirección de correo", h.entry(7, 2).ErrorDetalle)
	assert.Equal(t, "datos del lote: comprobantes no es una lista", h.entry(7, 4).ErrorDetalle)

	h.run()
	job := h.awaitEnd(started.JobID)
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	assert.Equal(t, "clerk", job.CreatedBy)
	assert.Equal(t, billingmail.Resumen{Enviado: 2, Omitido: 2}, h.resumen(7))
	assert.Equal(t, map[string]int{"socio1@members.example": 1, "socio3@members.example": 1}, h.received())
	for _, message := range h.server.Messages() {
		parsed := mailcheck.Wire(t, message.Data)
		if parsed.To[0].Address != "socio3@members.example" {
			continue
		}
		assert.Equal(t, "Facturación de Sucursal norte", parsed.Subject)
		assert.Contains(t, parsed.Text, "Factura A-0003: $\u00a01.450,50, vence el jueves, 10 de diciembre de 2026")
		assert.Contains(t, parsed.Text, "Total: $\u00a02.901,00", "both groups of the member")
	}
	sent := h.entry(7, 1)
	assert.Equal(t, 1, sent.Intentos)
	assert.False(t, sent.UltimoIntento.IsZero())
	assert.Equal(t, started.JobID, sent.JobID)
}

// How many would get an e-mail is told without sending any.
func TestCountRecipients(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	groups := members(3)
	groups[1]["email"] = ""
	h.addLote("norte", 7, "completado", nil, groups)
	request := billingmail.ResendRequest{Schema: "norte", LoteID: 7}
	for _, c := range []struct {
		selection []int64
		want      int
	}{{nil, 2}, {[]int64{3, 2, 3}, 1}} {
		request.SocioIDs = c.selection
		count, err := h.service.CountRecipients(t.Context(), request)
		require.NoError(t, err)
		assert.Equal(t, c.want, count)
	}
	for _, c := range []struct {
		selection []int64
		want      error
	}{{[]int64{}, billingmail.ErrEmptySelection}, {[]int64{2}, billingmail.ErrNoRecipients}} {
		request.SocioIDs = c.selection
		_, err := h.service.CountRecipients(t.Context(), request)
		require.ErrorIs(t, err, c.want)
	}
	assert.Zero(t, h.resumen(7).Total())
}

// What cannot be sent is refused, and nothing is left of it.
func TestResendRefuses(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 1, "simulacion", nil, members(1))
	h.addLote("norte", 2, "completado", map[string]any{"simulacion": true}, members(1))
	h.addLote("norte", 3, "en_progreso", nil, members(1))
	h.addLote("norte", 4, "completado", nil, nil)
	h.exec(`INSERT INTO norte.membresia_facturacion_lote_auditoria VALUES (5, NULL, NULL, '{"otra": 1}'), (6, 'x', 'null', '{"gruposExitosos": {}}')`)
	h.addLote("norte", 7, "completado", nil, []group{})
	nobody := member(1)
	nobody["email"] = "no es una dirección"
	h.addLote("norte", 8, "completado", nil, []group{nobody})
	h.addLote("norte", 9, "completado", nil, append(members(2), nobody))
	for _, c := range []struct {
		schema string
		lote   int64
		socios []int64
		want   error
	}{
		{"norte", 1, nil, billingmail.ErrSimulation},
		{"norte", 2, nil, billingmail.ErrSimulation},
		{"norte", 3, nil, billingmail.ErrInProgress},
		{"norte", 4, nil, billingmail.ErrNoDetails},
		{"norte", 5, nil, billingmail.ErrNoDetails},
		{"norte", 6, nil, billingmail.ErrNoDetails},
		{"norte", 7, nil, billingmail.ErrNoRecipients},
		{"norte", 8, nil, billingmail.ErrNoRecipients},
		{"norte", 9, []int64{}, billingmail.ErrEmptySelection},
		{"norte", 404, nil, billingmail.ErrUnknownLote},
		{"norte", 1 << 40, nil, billingmail.ErrUnknownLote},
		{"norte", -1, nil, billingmail.ErrUnknownLote},
		{"sur", 1, nil, billingmail.ErrUnknownSchema},
		{"Norte", 1, nil, billingmail.ErrUnknownSchema},
		{`norte"; DROP SCHEMA norte; --`, 1, nil, billingmail.ErrUnknownSchema},
		{"public", 1, nil, billingmail.ErrUnknownLote},
	} {
		_, err := h.service.Resend(t.Context(), billingmail.ResendRequest{Schema: c.schema, LoteID: c.lote, SocioIDs: c.socios, RequestedBy: "clerk"})
		assert.ErrorIs(t, err, c.want, "%s %d %v", c.schema, c.lote, c.socios)
	}
	for _, schema := range []string{"", "pg_catalog", "information_schema", "a\x00b", "a\nb", "\xff", strings.Repeat("x", 64)} {
		_, err := h.service.Resend(t.Context(), billingmail.ResendRequest{Schema: schema, LoteID: 9, RequestedBy: "clerk"})
		assert.ErrorContains(t, err, "schema", "%q", schema)
	}
	_, err := h.service.Resend(t.Context(), billingmail.ResendRequest{Schema: "norte", LoteID: 9, SocioIDs: []int64{2, 5, 1, 3, 5}, RequestedBy: "clerk"})
	selection, ok := errors.AsType[*billingmail.SelectionError](err)
	require.True(t, ok, "%v", err)
	assert.Equal(t, []int64{3, 5}, selection.SocioIDs)
	assert.Zero(t, h.count("SELECT count(*) FROM norte.membresia_facturacion_email_detalle"))
	assert.Zero(t, h.count("SELECT count(*) FROM buzon.outbox_jobs"))
}

// A selection is sent, and nobody else.
func TestResendSelection(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", nil, members(5))
	h.run()
	require.Equal(t, delivery.StateCompleted, h.awaitEnd(h.resend(7).JobID).State)
	started := h.resend(7, 4, 2, 2)
	assert.Equal(t, 2, started.EntriesCount)
	require.Equal(t, delivery.StateCompleted, h.awaitEnd(started.JobID).State)
	assert.Equal(t, map[string]int{
		"socio1@members.example": 1, "socio2@members.example": 2, "socio3@members.example": 1, "socio4@members.example": 2, "socio5@members.example": 1,
	}, h.received())
	assert.Equal(t, 2, h.entry(7, 2).Intentos, "they add up over jobs")
	assert.Equal(t, 1, h.entry(7, 1).Intentos)

	ids := map[string]bool{}
	for _, message := range h.server.Messages() {
		if parsed := mailcheck.Wire(t, message.Data); parsed.To[0].Address == "socio2@members.example" {
			ids[parsed.MessageID] = true
		}
	}
	assert.Len(t, ids, 2, "a deliberate resend is a new message")
}

// Of two at once one wins, and the other is told of it.
func TestResendTwiceAtOnce(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", nil, members(50))
	var wins, losses atomic.Int32
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			_, err := h.service.Resend(t.Context(), billingmail.ResendRequest{Schema: "norte", LoteID: 7, RequestedBy: "clerk"})
			if active, ok := errors.AsType[*billingmail.ActiveError](err); ok {
				assert.NotZero(t, active.JobID)
				losses.Add(1)
			} else if assert.NoError(t, err) {
				wins.Add(1)
			}
		})
	}
	group.Wait()
	assert.EqualValues(t, 1, wins.Load())
	assert.EqualValues(t, 7, losses.Load())
	assert.Equal(t, 1, h.count("SELECT count(*) FROM buzon.outbox_jobs"))
	assert.Equal(t, 50, h.count("SELECT count(*) FROM norte.membresia_facturacion_email_detalle"))
}

// Updating burns no numbers of the SERIAL.
func TestMarkingAgainBurnsNoNumbers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", nil, members(100))
	for range 3 {
		started := h.resend(7)
		_, ended, err := h.service.Cancel(t.Context(), "norte", 7, "clerk")
		require.NoError(t, err)
		assert.True(t, ended)
		assert.Equal(t, delivery.StateCancelled, h.awaitEnd(started.JobID).State)
	}
	assert.Equal(t, 100, h.count("SELECT last_value FROM norte.membresia_facturacion_email_detalle_id_seq"))
	assert.Equal(t, billingmail.Resumen{Omitido: 100}, h.resumen(7))
	assert.Equal(t, "cancelado por clerk", h.entry(7, 1).ErrorDetalle)
}
