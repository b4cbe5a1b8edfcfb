package billingmail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery"
	"github.com/buzon-go/buzon/delivery/mail"
	"github.com/buzon-go/buzon/retry"
)

// JobTypeName is the type of the jobs that send lotes.
const JobTypeName = retry.TypeEmailNotificationLote

// payloadVersion is the version of their payload.
const payloadVersion = 1

// payload is what a job is to send.
type payload struct {
	LoteID   int64   `json:"lote_id"`
	SocioIDs []int64 `json:"socio_ids,omitempty"` // ascending; none for the whole lote
	Prueba   bool    `json:"prueba,omitempty"`
}

// selects reports whether a member was asked for.
func (p payload) selects(socioID int64) bool {
	if p.SocioIDs == nil {
		return true
	}
	_, found := slices.BinarySearch(p.SocioIDs, socioID)
	return found
}

// A ResendRequest asks for the e-mails of a lote.
type ResendRequest struct {
	Schema string // of the branch
	LoteID int64
	// SocioIDs selects members. nil means the whole lote; a selection that is
	// empty is [ErrEmptySelection].
	SocioIDs []int64
	// Prueba asks that no member is written to; what the lote itself says of
	// that overrides it.
	Prueba bool
	// RequestedBy is who asks, kept with the job. Required.
	RequestedBy string
}

// A Resend is a job that was started.
type Resend struct {
	JobID        int64
	EntriesCount int // entries that will be sent, without those omitido
}

// markBatch is how many entries a statement marks.
const markBatch = 2000

// Resend starts a job that sends the e-mails of a lote again. In one transaction
// it reads and checks the lote, marks its entries pendiente (or omitido, where
// there is no address that can be used), and enqueues the job: all of it, or
// nothing. So whoever looks sees the work at once, and a crash can skip nobody.
//
// errors.Is and errors.As tell [ErrUnknownSchema], [ErrUnknownLote],
// [ErrSimulation], [ErrInProgress], [ErrNoDetails], [ErrNoRecipients],
// [ErrEmptySelection], [*SelectionError] and [*ActiveError].
func (s *Service) Resend(ctx context.Context, request ResendRequest) (Resend, error) {
	var started Resend
	err := s.withSelection(ctx, request, func(tx pgx.Tx, b branch, held *spool, work payload, recipients int) (err error) {
		started.EntriesCount = recipients
		if started.JobID, err = s.enqueue(ctx, tx, request, work); err != nil {
			return err
		}
		return s.mark(ctx, tx, b, held, work, started.JobID)
	})
	if err != nil {
		return Resend{}, fmt.Errorf("billingmail: resend lote %d of schema %q: %w", request.LoteID, request.Schema, err)
	}
	return started, nil
}

// CountRecipients returns how many entries [Service.Resend] would send, and its
// errors apart from [*ActiveError]. It reads the lote and changes nothing.
func (s *Service) CountRecipients(ctx context.Context, request ResendRequest) (int, error) {
	var count int
	err := s.withSelection(ctx, request, func(_ pgx.Tx, _ branch, _ *spool, _ payload, recipients int) error {
		count = recipients
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("billingmail: count the recipients of lote %d of schema %q: %w", request.LoteID, request.Schema, err)
	}
	return count, nil
}

// withSelection reads a lote and checks what is asked for of it, in a
// transaction that f ends.
func (s *Service) withSelection(
	ctx context.Context, request ResendRequest, f func(tx pgx.Tx, b branch, held *spool, work payload, recipients int) error,
) error {
	if err := errors.Join(CheckSchema(request.Schema), checkLoteID(request.LoteID)); err != nil {
		return err
	}
	work := payload{LoteID: request.LoteID, Prueba: request.Prueba}
	if request.SocioIDs != nil {
		if len(request.SocioIDs) == 0 {
			return ErrEmptySelection
		}
		work.SocioIDs = slices.Compact(slices.Sorted(slices.Values(request.SocioIDs)))
	}
	return s.inBranch(ctx, request.Schema, func(tx pgx.Tx, b branch) error {
		held, lote, err := s.read(ctx, tx, request.LoteID)
		if err != nil {
			return err
		}
		defer held.close()
		if lote.Prueba != nil {
			work.Prueba = *lote.Prueba
		}
		recipients, err := checkSelection(held, work)
		if err != nil {
			return err
		}
		return f(tx, b, held, work, recipients)
	})
}

func checkLoteID(loteID int64) error {
	if loteID < 1 || loteID > maxInteger {
		return fmt.Errorf("billingmail: lote %d: %w", loteID, ErrUnknownLote)
	}
	return nil
}

// read reads a lote that can be sent into a spool, which the caller closes.
func (s *Service) read(ctx context.Context, tx pgx.Tx, loteID int64) (*spool, Lote, error) {
	held, err := newSpool()
	if err != nil {
		return nil, Lote{}, err
	}
	lote, err := s.config.Lotes.ReadLote(ctx, tx, loteID, held.add)
	if err == nil {
		err = lote.check()
	}
	if err == nil && held.count == 0 {
		err = ErrNoRecipients
	}
	if err != nil {
		held.close()
		return nil, Lote{}, err
	}
	return held, lote, nil
}

// namedMembers is how many members an error names.
const namedMembers = 100

// checkSelection returns how many entries of a selection can be sent. It refuses
// members who are not in the lote, and a selection of which nobody can be
// written to.
func checkSelection(held *spool, work payload) (recipients int, err error) {
	missing := make(map[int64]bool, len(work.SocioIDs))
	for _, id := range work.SocioIDs {
		missing[id] = true
	}
	for entry, err := range held.entries() {
		if err != nil {
			return 0, err
		}
		delete(missing, entry.SocioID)
		if work.selects(entry.SocioID) && entry.omission() == "" {
			recipients++
		}
	}
	if len(missing) > 0 {
		named := []int64{}
		for _, id := range work.SocioIDs {
			if missing[id] && len(named) < namedMembers {
				named = append(named, id)
			}
		}
		return 0, &SelectionError{LoteID: work.LoteID, SocioIDs: named, HowMany: len(missing), Selection: len(work.SocioIDs)}
	}
	if recipients == 0 {
		return 0, ErrNoRecipients
	}
	return recipients, nil
}

// omission returns why the entry is not sent, for people, or "".
func (e Entry) omission() string {
	if e.Fault != "" {
		return "datos del lote: " + e.Fault
	}
	switch _, err := mail.ParseAddress(e.Email); {
	case errors.Is(err, mail.ErrNoAddress):
		return "sin dirección de correo"
	case err != nil:
		return "la dirección de correo no es válida"
	}
	return ""
}

// enqueue writes the job. One that is active already is an *ActiveError.
func (s *Service) enqueue(ctx context.Context, tx pgx.Tx, request ResendRequest, work payload) (int64, error) {
	inserted, err := s.queue.Insert(ctx, tx, delivery.JobParams{
		Type: JobTypeName, Tenant: request.Schema, UniqueKey: uniqueKey(request.LoteID),
		Payload: work, PayloadVersion: payloadVersion, CreatedBy: request.RequestedBy,
	})
	switch {
	case err != nil:
		return 0, err
	case inserted.Duplicate:
		return 0, &ActiveError{LoteID: request.LoteID, JobID: inserted.ID}
	}
	return inserted.ID, nil
}

// uniqueKey keeps a lote to one active job; the job's tenant is the schema.
func uniqueKey(loteID int64) string { return "lote:" + strconv.FormatInt(loteID, 10) }

// mark begins the entries of a job.
func (s *Service) mark(ctx context.Context, tx pgx.Tx, b branch, held *spool, work payload, jobID int64) error {
	if b.table == tableMissing {
		s.log.Warn("buzon: a schema has no table of e-mail details; the lote is sent without a record of its entries",
			logSchema, b.schema, logLote, work.LoteID)
		return nil
	}
	marks := make([]mark, 0, markBatch)
	for entry, err := range held.entries() {
		if err != nil {
			return err
		}
		if !work.selects(entry.SocioID) {
			continue
		}
		if marks = append(marks, markOf(entry)); len(marks) == markBatch {
			if err := b.upsertMarks(ctx, tx, work.LoteID, jobID, marks); err != nil {
				return err
			}
			marks = marks[:0]
		}
	}
	return b.upsertMarks(ctx, tx, work.LoteID, jobID, marks)
}

func markOf(entry Entry) mark {
	m := mark{socioID: entry.SocioID, email: storable(entry.Email), estado: Pendiente}
	if m.reason = entry.omission(); m.reason != "" {
		m.estado = Omitido
	}
	return m
}

// storable returns as much of an address as its column holds.
func storable(email string) string {
	runes := []rune(email)
	return string(runes[:min(len(runes), maxEmail)])
}

// Keys of log attributes.
const (
	logSchema = "schema"
	logLote   = "lote_id"
	logJob    = "job_id"
	logError  = "error"
)
