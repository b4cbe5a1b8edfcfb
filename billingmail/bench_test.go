package billingmail_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/buzon-go/buzon/billingmail"
	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/smtp"
	"github.com/buzon-go/buzon/delivery/smtptest"
)

// BenchmarkLote sends whole lotes, and shows how much of the heap is in use at
// most while it does: it does not grow with the lote. "smtp" sends to a server
// on the loopback, whose memory is counted too; "none" has a sender that takes
// every message at once, and shows what a lote costs besides the wire.
func BenchmarkLote(b *testing.B) {
	for _, c := range []struct {
		wire  string
		total int
	}{
		{"smtp", 2_000}, {"smtp", 20_000},
		{"none", 2_000}, {"none", 20_000}, {"none", 200_000},
	} {
		b.Run(fmt.Sprintf("%s/%d", c.wire, c.total), func(b *testing.B) {
			sender := &sampler{Sender: taker{}}
			if c.wire == "smtp" {
				sender.Sender = sink(b)
			}
			h := newHouse(b, func(config *billingmail.Config) { config.Sender = sender })
			h.addLarge(7, c.total)
			h.run()
			idle := heapInUse()
			for b.Loop() {
				h.awaitCompleted(h.resend(7).JobID)
			}
			require.Equal(b, billingmail.Resumen{Enviado: c.total}, h.resumen(7))
			reportEntries(b, c.total, sender.peak(), idle)
		})
	}
}

// BenchmarkResend starts lotes: the transaction that reads a lote, marks its
// entries and enqueues the job. Nothing is sent.
func BenchmarkResend(b *testing.B) {
	for _, total := range []int{2_000, 20_000, 200_000} {
		b.Run(fmt.Sprint(total), func(b *testing.B) {
			reader := &sampledReader{}
			h := newHouse(b, func(c *billingmail.Config) { c.Lotes = reader })
			h.addLarge(7, total)
			idle := heapInUse()
			for b.Loop() {
				require.Equal(b, total, h.resend(7).EntriesCount)
				b.StopTimer()
				_, ended, err := h.service.Cancel(b.Context(), "norte", 7, "clerk")
				require.NoError(b, err)
				require.True(b, ended)
				b.StartTimer()
			}
			reportEntries(b, total, reader.peak(), idle)
		})
	}
}

func reportEntries(b *testing.B, total int, peak, idle uint64) {
	b.Helper()
	b.ReportMetric(float64(total)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
	b.ReportMetric(float64(max(peak, idle)-idle)/(1<<20), "MiB-over-idle")
}

// addLarge is addLote without memory of this process.
func (h *house) addLarge(id, total int) {
	h.t.Helper()
	h.exec(`INSERT INTO norte.membresia_facturacion_lote_auditoria (id, estado, detalles)
		SELECT $1::integer, 'completado', jsonb_build_object('gruposExitosos', jsonb_agg(jsonb_build_object(
			'socio_id', n, 'nombre', 'Socio ' || n, 'email', 'socio' || n || '@members.example', 'comprobantes', jsonb_build_array(
				jsonb_build_object('tipo', 'Factura', 'numero', 'A-' || n, 'importe', 1450.5, 'moneda', 'UYU', 'vencimiento', '2026-12-10')))))
		FROM generate_series(1, $2::integer) AS n`, id, total)
}

// awaitCompleted has the patience that a large lote needs.
func (h *house) awaitCompleted(id int64) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		job, err := h.queue.GetJob(h.t.Context(), id)
		return err == nil && job.State == delivery.StateCompleted
	}, 15*time.Minute, 20*time.Millisecond, "job %d did not get there", id)
}

// sink returns a sender to a server that remembers next to nothing.
func sink(b *testing.B) mail.Sender {
	b.Helper()
	server, err := smtptest.NewServer(smtptest.Config{Keep: 1})
	require.NoError(b, err)
	b.Cleanup(func() { assert.NoError(b, server.Close()) })
	return senderTo(b, server)
}

// senderTo returns a sender to a server on the loopback.
func senderTo(t testing.TB, server *smtptest.Server) mail.Sender {
	t.Helper()
	transport, err := smtp.New(smtp.Config{
		Integrations: smtp.Single(smtp.Integration{Host: "127.0.0.1", Port: server.Port(), TLS: smtp.Plaintext}), Logger: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, transport.Close(context.WithoutCancel(t.Context()))) })
	return transport
}

// taker takes every message at once.
type taker struct{}

func (taker) Send(ctx context.Context, _ *mail.Message, commit func(context.Context) error) (mail.Receipt, error) {
	return mail.Receipt{}, commit(ctx)
}

// sampleEvery is how many entries pass between two looks at the heap.
const sampleEvery = 5_000

// samples of the heap, of which the largest counts.
type samples struct{ seen, most atomic.Uint64 }

func (s *samples) peak() uint64 { return s.most.Load() }

func (s *samples) look() {
	if s.seen.Add(1)%sampleEvery != sampleEvery/4 {
		return
	}
	heap := heapInUse()
	for most := s.most.Load(); heap > most && !s.most.CompareAndSwap(most, heap); most = s.most.Load() {
	}
}

// sampler looks at the heap while messages go out.
type sampler struct {
	mail.Sender
	samples
}

func (s *sampler) Send(ctx context.Context, m *mail.Message, commit func(context.Context) error) (mail.Receipt, error) {
	s.look()
	return s.Sender.Send(ctx, m, commit)
}

// sampledReader looks at the heap while a lote is read.
type sampledReader struct {
	billingmail.AuditoriaReader
	samples
}

func (r *sampledReader) ReadLote(ctx context.Context, tx pgx.Tx, loteID int64, entry func(billingmail.Entry) error) (billingmail.Lote, error) {
	return r.AuditoriaReader.ReadLote(ctx, tx, loteID, func(e billingmail.Entry) error {
		r.look()
		return entry(e)
	})
}

// heapInUse returns the bytes of the heap that are reachable.
func heapInUse() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
