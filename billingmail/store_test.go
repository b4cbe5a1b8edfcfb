package billingmail_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
)

// PostgreSQL's statistics know the lotes of earlier months and nothing of the
// new one, which it takes for a single row. All the same each entry is found by
// itself: if the whole lote were read for each batch of results, the time would
// grow with the square of the lote.
func TestStatisticsThatDoNotKnowTheLote(t *testing.T) {
	t.Parallel()
	const total = 4000
	h := newHouse(t, func(c *billingmail.Config) { c.Sender = taker{} })
	h.exec(`ALTER TABLE norte.membresia_facturacion_email_detalle SET (autovacuum_enabled = off)`)
	h.exec(`INSERT INTO norte.membresia_facturacion_email_detalle (lote_id, socio_id, estado)
		SELECT lote, socio, 'enviado' FROM generate_series(1, 3) AS lote, generate_series(1, $1::integer) AS socio`, total)
	h.exec(`ANALYZE norte.membresia_facturacion_email_detalle`)
	h.addLote("norte", 9, "completado", nil, members(total))
	stop := h.run()
	job := h.awaitEnd(h.resend(9).JobID)
	require.Equal(t, delivery.StateCompleted, job.State, job.LastError)
	stop()
	h.pool.Reset() // a session counts what it has read by its end at the latest
	require.Eventually(t, func() bool {
		return h.count(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`) == 0
	}, patience, tick)
	read := h.count(`SELECT sum(idx_tup_read) FROM pg_stat_user_indexes
		WHERE schemaname = 'norte' AND indexrelname LIKE 'idx_email_detalle_lote_%'`)
	assert.GreaterOrEqual(t, read, total)
	assert.LessOrEqual(t, read, 4*total)
	assert.Equal(t, billingmail.Resumen{Enviado: total}, h.resumen(9))
}
