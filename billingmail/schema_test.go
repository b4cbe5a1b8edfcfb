package billingmail_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/smtptest"
	"github.com/buzon-go/buzon/migrations"
)

func (h *house) resendIn(schema string, loteID int64) billingmail.Resend {
	h.t.Helper()
	started, err := h.service.Resend(h.t.Context(), billingmail.ResendRequest{Schema: schema, LoteID: loteID, RequestedBy: "clerk"})
	require.NoError(h.t, err)
	return started
}

func (h *house) resumenIn(schema string, loteID int64) billingmail.Resumen {
	h.t.Helper()
	list, err := h.service.List(h.t.Context(), billingmail.ListRequest{Schema: schema, LoteID: loteID})
	require.NoError(h.t, err)
	return list.Resumen
}

// The same lote of two schemas are two lotes, whatever the schemas are called.
func TestSchemasDoNotMeet(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	schemas := []string{"sur", `Sur`, `"; DROP SCHEMA norte; --`, "ñandú", strings.Repeat("x", 63), "con espacio", "select"}
	for i, schema := range schemas {
		h.addSchema(schema)
		h.addLote(schema, 7, "completado", nil, members(i+1))
	}
	h.addLote("norte", 7, "completado", nil, members(9))
	h.run()
	for i, schema := range schemas {
		job := h.awaitEnd(h.resendIn(schema, 7).JobID)
		require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
		assert.Equal(t, schema, job.Tenant)
		assert.Equal(t, billingmail.Resumen{Enviado: i + 1}, h.resumenIn(schema, 7), schema)
	}
	assert.Equal(t, billingmail.Resumen{}, h.resumen(7))
}

// Without the table a lote is sent all the same, and a warning tells.
func TestSchemaWithoutTheTable(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addBareSchema("vieja")
	h.addLote("vieja", 7, "completado", nil, members(3))
	require.NoError(t, h.server.SetRules(refuse(2, 451, "4.3.0", 0)))
	h.run()
	job := h.awaitEnd(h.resendIn("vieja", 7).JobID)
	assert.Equal(t, delivery.StateCompleted, job.State, "a part that failed is not retried")
	assert.Zero(t, job.RetryCount)
	assert.Len(t, h.received(), 2)
	assert.Contains(t, h.logs.String(), "has no table of e-mail details")
	list, err := h.service.List(t.Context(), billingmail.ListRequest{Schema: "vieja", LoteID: 7})
	require.NoError(t, err)
	assert.Empty(t, list.Entries)
	_, err = h.service.List(t.Context(), billingmail.ListRequest{Schema: "vieja", LoteID: 8})
	assert.ErrorIs(t, err, billingmail.ErrUnknownLote)
}

// A table further down the path is somebody else's.
func TestTableOfAnotherSchemaDoesNotCount(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *billingmail.Config) { c.Paths = paths{} })
	h.addBareSchema("caja")
	h.exec(`DROP TABLE caja.membresia_facturacion_lote_auditoria`)
	h.addLote("norte", 7, "completado", nil, members(2))
	h.run()
	job := h.awaitEnd(h.resendIn("caja", 7).JobID)
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	assert.Len(t, h.received(), 2, "the lote was found at the other level")
	assert.Zero(t, h.count("SELECT count(*) FROM norte.membresia_facturacion_email_detalle"))
}

// paths look for a till's lotes at its branch.
type paths struct{}

func (paths) SearchPath(_ context.Context, schema string) ([]string, error) {
	return []string{schema, "norte"}, nil
}

// The table appears between two runs: the second one records.
func TestTableThatAppears(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addBareSchema("nueva")
	h.addLote("nueva", 7, "completado", nil, members(3))
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Mail, Reply: smtptest.Reply{Code: 451, Text: "later"}}))
	h.delay = time.Hour
	h.run()
	started := h.resendIn("nueva", 7)
	h.await(started.JobID, func(j *delivery.Job) bool { return j.RetryCount == 1 })
	_, err := migrations.UpBranch(t.Context(), h.pool, "nueva")
	require.NoError(t, err)
	require.NoError(t, h.server.SetRules())
	require.NoError(t, h.queue.RetryNow(t.Context(), started.JobID))
	require.Equal(t, delivery.StateCompleted, h.awaitEnd(started.JobID).State)
	assert.Equal(t, billingmail.Resumen{Enviado: 3}, h.resumenIn("nueva", 7))
}

// Without the second migration's columns: the plain behaviour.
func TestTableWithoutTheSecondMigration(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.exec(`ALTER TABLE norte.membresia_facturacion_email_detalle DROP COLUMN job_id, DROP COLUMN reintentable`)
	h.addLote("norte", 7, "completado", nil, members(3))
	require.NoError(t, h.server.SetRules(refuse(2, 451, "4.3.0", 0)))
	h.run()
	job := h.awaitEnd(h.resend(7).JobID)
	assert.Equal(t, delivery.StateCompleted, job.State)
	assert.Zero(t, job.RetryCount)
	assert.Equal(t, billingmail.Resumen{Enviado: 2, Error: 1}, h.resumen(7))
	assert.Nil(t, h.entry(7, 2).Reintentable)
	assert.Zero(t, h.entry(7, 2).JobID)

	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Mail, Reply: smtptest.Reply{Code: 451, Text: "later"}, Times: 2}))
	job = h.awaitEnd(h.resend(7).JobID)
	assert.Equal(t, delivery.StateCompleted, job.State)
}

// When it cannot be read who has the e-mail, everybody gets it, and a warning
// tells.
func TestSentEntriesCannotBeRead(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", nil, members(3))
	require.NoError(t, h.server.SetRules(refuse(2, 451, "4.3.0", 1)))
	h.delay = time.Hour
	h.run()
	started := h.resend(7)
	h.await(started.JobID, func(j *delivery.Job) bool { return j.RetryCount == 1 })
	h.exec(`ALTER TABLE norte.membresia_facturacion_email_detalle RENAME COLUMN estado TO estado_viejo`)
	require.NoError(t, h.queue.RetryNow(t.Context(), started.JobID))
	require.Eventually(t, func() bool { return strings.Contains(h.logs.String(), "every entry is processed") }, patience, tick)
	h.exec(`ALTER TABLE norte.membresia_facturacion_email_detalle RENAME COLUMN estado_viejo TO estado`)
	require.Equal(t, delivery.StateCompleted, h.awaitEnd(started.JobID).State)
	assert.Equal(t, map[string]int{"socio1@members.example": 2, "socio2@members.example": 1, "socio3@members.example": 2}, h.received())
}

// A schema that is dropped while its lote goes out disturbs nothing else.
func TestSchemaThatIsDropped(t *testing.T) {
	t.Parallel()
	h := newHouse(t, func(c *billingmail.Config) { c.Connections = 1 })
	h.addSchema("cerrada")
	h.addLote("cerrada", 7, "completado", nil, members(5))
	h.addLote("norte", 7, "completado", nil, members(5))
	hold := smtptest.NewHold()
	require.NoError(t, h.server.SetRules(smtptest.Rule{At: smtptest.Rcpt, Recipient: "socio2@members.example", Hold: hold, Times: 1}))
	h.run()
	closed := h.resendIn("cerrada", 7)
	<-hold.Reached()
	h.exec(`DROP SCHEMA cerrada CASCADE`)
	hold.Release()
	h.awaitEnd(closed.JobID)
	assert.Contains(t, h.logs.String(), "is gone; results are not recorded")
	assert.Equal(t, delivery.StateCompleted, h.awaitEnd(h.resend(7).JobID).State)
	_, err := h.service.Resend(t.Context(), billingmail.ResendRequest{Schema: "cerrada", LoteID: 7, RequestedBy: "clerk"})
	assert.ErrorIs(t, err, billingmail.ErrUnknownSchema)
}

// The search path lasts one transaction, on every connection of the pool.
func TestSearchPathDoesNotLeak(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.addLote("norte", 7, "completado", nil, members(1))
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			_, err := h.service.List(t.Context(), billingmail.ListRequest{Schema: "norte", LoteID: 7})
			assert.NoError(t, err)
			_, err = h.service.List(t.Context(), billingmail.ListRequest{Schema: "norte", LoteID: 404})
			assert.ErrorIs(t, err, billingmail.ErrUnknownLote)
			var path string
			assert.NoError(t, h.pool.QueryRow(t.Context(), "SHOW search_path").Scan(&path))
			assert.Equal(t, `"$user", public`, path)
		})
	}
	group.Wait()
}

// Every way in which pgx runs statements works, as poolers need them.
func TestExecutionModes(t *testing.T) {
	t.Parallel()
	for _, mode := range []pgx.QueryExecMode{
		pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
	} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			t.Parallel()
			h := newHouseIn(t, mode)
			h.addLote("norte", 7, "completado", nil, members(3))
			require.NoError(t, h.server.SetRules(refuse(2, 451, "4.3.0", 1)))
			h.run()
			require.Equal(t, delivery.StateCompleted, h.awaitEnd(h.resend(7).JobID).State)
			assert.Equal(t, billingmail.Resumen{Enviado: 3}, h.resumen(7))
		})
	}
}
