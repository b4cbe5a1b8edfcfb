package billingmail

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/delivery/mail/diagnosis"
	"github.com/buzon-go/buzon/internal/timing"
	"github.com/buzon-go/buzon/retry"
)

// Of the results: a batch is written when it is full, or when its first result
// has waited.
const (
	resultBatch = 200
	resultWait  = 20 * time.Millisecond
)

// inFlightGrace is how long the messages that are under way have, once the run
// is to end.
const inFlightGrace = 5 * time.Second

// send sends to everybody who is to be sent to, over several connections, and
// records each result. It returns when all that was begun is recorded.
func (r *run) send(ctx context.Context) {
	sending, stop := r.whileInFlight(ctx)
	defer stop()
	work, results := make(chan Entry), make(chan result, resultBatch)
	var workers sync.WaitGroup
	for range r.service.config.Connections {
		workers.Go(func() {
			for entry := range work {
				if result, ok := r.deliver(sending, entry); ok {
					results <- result
				}
			}
		})
	}
	var recorder sync.WaitGroup
	recorder.Go(func() { r.record(ctx, results) })

	r.feed(ctx, work, results)
	close(work)
	workers.Wait()
	close(results)
	recorder.Wait()
}

// whileInFlight returns the context of messages that are under way: it ends a
// little after the run's, or at once when the job is somebody else's by then.
func (r *run) whileInFlight(ctx context.Context) (sending context.Context, stop func()) {
	sending, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, func() {
		cause := context.Cause(ctx)
		if !errors.Is(cause, delivery.ErrLeaseLost) {
			timing.Pause(sending, inFlightGrace)
		}
		cancel(cause)
	})
	return sending, func() {
		release()
		cancel(nil)
	}
}

// feed hands out the entries, until the run is to end.
func (r *run) feed(ctx context.Context, work chan<- Entry, results chan<- result) {
	for entry, err := range r.held.entries() {
		if err != nil {
			r.log.Error("buzon: the entries of a lote cannot be read back", logError, err)
			results <- result{fault: err}
			return
		}
		if !r.work.selects(entry.SocioID) || r.skip[entry.SocioID] {
			continue
		}
		if reason := entry.omission(); reason != "" {
			results <- result{socioID: entry.SocioID, email: storable(entry.Email), estado: Omitido, detail: reason}
			continue
		}
		select {
		case work <- entry:
		case <-ctx.Done():
			return
		}
	}
}

// deliver sends one e-mail and says what came of it. It has nothing to say of one
// that was not sent because the run ended.
func (r *run) deliver(ctx context.Context, entry Entry) (result, bool) {
	err := r.transmit(ctx, entry)
	done := result{socioID: entry.SocioID, email: storable(entry.Email), attempted: true, estado: Enviado, fault: err}
	if err == nil {
		return done, true
	}
	failure, fromWire := errors.AsType[*mail.SendError](err)
	unknown := fromWire && failure.Certainty == mail.Unknown
	if ctx.Err() != nil && !unknown {
		return result{}, false
	}
	done.estado = Error
	switch {
	case unknown:
		done.detail = "resultado desconocido: " + diagnosis.OfError(err).Text("es")
	case fromWire:
		done.detail, done.reintentable = diagnosis.OfError(err).Text("es"), failure.Retryable()
	default:
		done.detail, done.reintentable = "no se pudo preparar el mensaje", !retry.IsPermanent(err)
		r.log.Error("buzon: the e-mail of a lote cannot be made", "socio_id", entry.SocioID, logError, err)
	}
	return done, true
}

// transmit composes one e-mail and hands it to the sender.
func (r *run) transmit(ctx context.Context, entry Entry) error {
	message, err := r.message(ctx, entry)
	if err != nil {
		return err
	}
	_, err = r.service.config.Sender.Send(ctx, &message, context.Cause)
	return err
}

// record writes results in small batches until there are no more.
func (r *run) record(ctx context.Context, results <-chan result) {
	for first := range results {
		batch := []result{first}
		timer := time.NewTimer(resultWait)
	collect:
		for len(batch) < resultBatch {
			select {
			case next, ok := <-results:
				if !ok {
					break collect
				}
				batch = append(batch, next)
			case <-timer.C:
				break collect
			}
		}
		timer.Stop()
		r.write(context.WithoutCancel(ctx), batch)
	}
}

// write counts and writes a batch, for as long as it takes: a message that was
// taken and is not on record would be sent again.
func (r *run) write(ctx context.Context, batch []result) {
	for _, result := range batch {
		r.tally.add(result)
	}
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := r.writeOnce(ctx, batch)
		switch {
		case err == nil:
			return
		case errors.Is(err, delivery.ErrLeaseLost):
			// What was taken was taken, whoever owns the job by now.
			if batch = onlySent(batch); len(batch) == 0 {
				return
			}
			continue
		case errors.Is(err, ErrUnknownSchema), isGone(err):
			r.log.Warn("buzon: a schema or its table of e-mail details is gone; results are not recorded", logError, err)
			return
		}
		r.log.Error("buzon: the results of a lote cannot be recorded; trying again", logError, err)
		timing.Pause(ctx, wait)
	}
}

// recordTimeout bounds one try to record a batch.
const recordTimeout = 15 * time.Second

func (r *run) writeOnce(ctx context.Context, batch []result) error {
	rows := make([]result, 0, len(batch))
	fenced := false
	for _, result := range batch {
		if result.socioID != 0 {
			rows = append(rows, result)
			fenced = fenced || result.estado != Enviado
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return timing.Within(ctx, recordTimeout, func(ctx context.Context) error {
		return r.service.inBranch(ctx, r.job.Tenant, func(tx pgx.Tx, b branch) error {
			if b.table == tableMissing {
				return nil
			}
			if err := b.upsertEntryResults(ctx, tx, r.work.LoteID, r.job.ID, rows); err != nil || !fenced {
				return err
			}
			return r.service.queue.SaveProgress(ctx, tx, r.job, map[string]int{"enviado": r.tally.sent, "error": r.tally.failed})
		})
	})
}

func onlySent(batch []result) []result {
	var sent []result
	for _, result := range batch {
		if result.estado == Enviado {
			sent = append(sent, result)
		}
	}
	return sent
}

// isGone reports a table or a schema that was dropped meanwhile.
func isGone(err error) bool {
	pgErr, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (pgErr.Code == "42P01" || pgErr.Code == "3F000")
}

// add counts a result.
func (t *tally) add(r result) {
	switch {
	case r.estado == Enviado:
		t.sent++
	case r.estado == Error, r.socioID == 0:
		t.failed++
		t.last = r.fault
		if r.reintentable || r.socioID == 0 {
			t.passing++
		}
	}
}
