package billingmail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/retry"
)

// An EmailNotificationLoteJobHandler sends the e-mails of a lote. A job can be
// cut anywhere: its entries are rows, each result is committed within
// milliseconds, and the next run asks the rows what is left.
//
// A run reads the lote once, sends to whoever was asked for, and leaves out,
// when it follows an earlier run, those who have the e-mail. It returns
// [*SmtpDeliveryAllFailed] when every delivery failed, [*SmtpDeliveryPartlyFailed]
// when some failures can pass by themselves and there is a retry left, and nil
// when nothing is left that could be sent. A server that took the last byte of a
// message and never answered leaves an entry in error, "resultado desconocido",
// which is not tried again by itself.
type EmailNotificationLoteJobHandler struct{ service *Service }

// JobType returns the type of the lotes' jobs, for delivery.RunnerConfig.JobTypes.
// It has no time limit, since a lote may take hours, and a runner that stops
// releases its lotes at once. A host may set Concurrency, how many lotes go out
// at once, which is 4.
func (s *Service) JobType() delivery.JobType {
	return delivery.JobType{
		Name: JobTypeName, Handler: &EmailNotificationLoteJobHandler{service: s},
		Concurrency: DefaultConcurrency, TimeLimit: -1, StopAtOnce: true,
		OnFailed: s.settleFailed,
	}
}

// Handle implements delivery.Handler.
func (h *EmailNotificationLoteJobHandler) Handle(ctx context.Context, job *delivery.Job) error {
	var work payload
	if err := job.Decode(payloadVersion, &work); err != nil {
		return err
	}
	run := &run{
		service: h.service, job: job, work: work,
		log: h.service.log.With(logSchema, job.Tenant, logLote, work.LoteID, logJob, job.ID),
	}
	defer run.release()
	if err := run.prepare(ctx); err != nil {
		return fmt.Errorf("billingmail: lote %d of schema %q: %w", work.LoteID, job.Tenant, permanentIfSo(err))
	}
	if run.prueba {
		return run.test(ctx)
	}
	run.send(ctx)
	return run.conclude(ctx)
}

// release removes what the run has spooled, also where its transaction failed
// after that.
func (r *run) release() {
	if r.held != nil {
		r.held.close()
	}
}

// permanentIfSo marks what no retry mends.
func permanentIfSo(err error) error {
	for _, fault := range []error{ErrUnknownSchema, ErrUnknownLote, ErrSimulation, ErrInProgress, ErrNoDetails, ErrNoRecipients, errOrder} {
		if errors.Is(err, fault) {
			return retry.Permanent(err)
		}
	}
	return err
}

// A run is one attempt of a job.
type run struct {
	service *Service
	job     *delivery.Job
	work    payload
	log     *slog.Logger

	branch   branch
	identity Branch
	held     *spool
	prueba   bool
	skip     map[int64]bool // who is left out
	before   int            // how many earlier runs of the job have sent

	tally tally
}

// A tally counts what came of a run.
type tally struct {
	sent    int
	failed  int
	passing int // of the failed: those that can pass
	last    error
}

// prepare loads all that a run needs. No transaction stays open.
func (r *run) prepare(ctx context.Context) error {
	var err error
	if r.identity, err = r.service.config.Branches.Branch(ctx, r.job.Tenant); err != nil {
		return fmt.Errorf("load the branch: %w", err)
	}
	if err := r.identity.Brand.Validate(); err != nil {
		return retry.Permanent(fmt.Errorf("the branch's Brand: %w", err))
	}
	err = r.service.inBranch(ctx, r.job.Tenant, func(tx pgx.Tx, b branch) error {
		r.branch = b
		var lote Lote
		var err error
		r.held, lote, err = r.service.read(ctx, tx, r.work.LoteID)
		r.prueba = r.work.Prueba
		if lote.Prueba != nil {
			r.prueba = *lote.Prueba
		}
		return err
	})
	if err != nil {
		return err
	}
	if r.branch.table == tableMissing {
		r.log.Warn("buzon: the schema has no table of e-mail details; the lote is sent without a record of its entries")
	}
	r.readSettled(ctx)
	return nil
}

// readSettled asks who is left out, when the run follows an earlier one. Where
// that cannot be read, every entry is processed, rather twice than never.
func (r *run) readSettled(ctx context.Context) {
	first := r.job.RetryCount == 0 && r.job.LeaseNumber <= 1
	if first || r.branch.table == tableMissing {
		return
	}
	err := r.service.inBranch(ctx, r.job.Tenant, func(tx pgx.Tx, b branch) error {
		enviado, others, err := b.settled(ctx, tx, r.work.LoteID)
		if err != nil {
			return err
		}
		for id := range enviado {
			if r.work.selects(id) {
				r.before++
			}
			others[id] = true
		}
		r.skip = others
		return nil
	})
	if err != nil {
		r.log.Warn("buzon: it cannot be read to whom the lote was sent already; every entry is processed", logError, err)
	}
}

// conclude says how the run ends.
func (r *run) conclude(ctx context.Context) error {
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	t := r.tally
	switch {
	case t.failed == 0:
		return nil
	case t.sent == 0 && r.before == 0 && t.passing == 0 && r.branch.table == tableWhole:
		return retry.Permanent(r.allFailed())
	case r.branch.table != tableWhole:
		// The plain behaviour: retried only when everything failed.
		if t.sent == 0 {
			return r.allFailed()
		}
		return nil
	case t.passing == 0, r.job.RetryCount >= r.job.MaxRetries && t.sent+r.before > 0:
		return nil
	case t.sent == 0:
		return r.allFailed()
	}
	return &SmtpDeliveryPartlyFailed{LoteID: r.work.LoteID, Sent: t.sent, Failed: t.failed, Passing: t.passing, Last: t.last}
}

func (r *run) allFailed() error {
	return &SmtpDeliveryAllFailed{LoteID: r.work.LoteID, Failed: r.tally.failed, Last: r.tally.last}
}

// interrupted ends a run whose context has ended. When the job was cancelled,
// what was not sent is omitted, with who did it.
func (r *run) interrupted(ctx context.Context) error {
	cause := context.Cause(ctx)
	cancelled, ok := errors.AsType[*delivery.CancelError](cause)
	if !ok {
		return cause
	}
	ctx = context.WithoutCancel(ctx)
	err := r.service.omit(ctx, r.job.Tenant, r.work.LoteID, r.job.ID, cancelledBy(cancelled.By))
	if err != nil {
		r.log.Error("buzon: the entries of a cancelled lote stay pendiente", logError, err)
	}
	return cause
}

func cancelledBy(who string) string { return "cancelado por " + who }

// omit ends the entries that a job has not sent.
func (s *Service) omit(ctx context.Context, schema string, loteID, jobID int64, reason string) error {
	return s.inBranch(ctx, schema, func(tx pgx.Tx, b branch) error {
		if b.table == tableMissing {
			return nil
		}
		_, err := b.omitPending(ctx, tx, loteID, jobID, reason)
		return err
	})
}

// settleFailed ends what a job that has failed for good left pendiente.
func (s *Service) settleFailed(ctx context.Context, job delivery.Job) {
	var work payload
	if err := job.Decode(payloadVersion, &work); err != nil {
		return
	}
	if err := s.omit(ctx, job.Tenant, work.LoteID, job.ID, "el envío terminó con un error antes de llegar a este socio"); err != nil {
		s.log.Error("buzon: the entries of a failed lote stay pendiente", logSchema, job.Tenant, logLote, work.LoteID, logError, err)
	}
}

// testMessages is how many e-mails of a lote with the flag prueba go to the test
// inbox.
const testMessages = 5

const pruebaReason = "prueba: no se escribe a los socios"

// test sends the first e-mails to the test inbox, and none to a member.
func (r *run) test(ctx context.Context) error {
	if r.service.config.TestInbox != "" {
		r.sendTests(ctx)
	} else {
		r.log.Warn("buzon: a lote with the flag prueba goes nowhere, since there is no TestInbox")
	}
	if ctx.Err() != nil {
		return r.interrupted(ctx)
	}
	if r.tally.failed > 0 && r.tally.sent == 0 {
		return r.allFailed()
	}
	return r.service.omitAll(ctx, r)
}

func (r *run) sendTests(ctx context.Context) {
	n := 0
	for entry, err := range r.held.entries() {
		if err != nil {
			r.tally.failed, r.tally.last = r.tally.failed+1, err
			return
		}
		if !r.work.selects(entry.SocioID) || entry.omission() != "" {
			continue
		}
		if n++; n > testMessages || ctx.Err() != nil {
			return
		}
		entry.Email = r.service.config.TestInbox
		if err := r.transmit(ctx, entry); err != nil {
			r.tally.failed, r.tally.last = r.tally.failed+1, err
		} else {
			r.tally.sent++
		}
	}
}

// omitAll makes every entry omitido, with the reason that it was a test.
func (s *Service) omitAll(ctx context.Context, r *run) error {
	if r.branch.table == tableMissing {
		return nil
	}
	batch := make([]result, 0, markBatch)
	flush := func() error {
		return s.inBranch(ctx, r.job.Tenant, func(tx pgx.Tx, b branch) error {
			if err := b.upsertEntryResults(ctx, tx, r.work.LoteID, r.job.ID, batch); err != nil {
				return err
			}
			batch = batch[:0]
			return s.queue.SaveProgress(ctx, tx, r.job, nil)
		})
	}
	for entry, err := range r.held.entries() {
		if err != nil {
			return err
		}
		if !r.work.selects(entry.SocioID) {
			continue
		}
		reason := entry.omission()
		if reason == "" {
			reason = pruebaReason
		}
		batch = append(batch, result{socioID: entry.SocioID, email: storable(entry.Email), estado: Omitido, detail: reason})
		if len(batch) == markBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}
