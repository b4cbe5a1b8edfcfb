package billingmail

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
)

// Bounds of a page.
const (
	DefaultPerPage = 50
	MaxPerPage     = 200
)

// A ListRequest asks for entries of a lote.
type ListRequest struct {
	Schema string
	LoteID int64
	Estado Estado // empty for all
	// Socio, when not 0, asks for that member alone.
	Socio int64
	Page  int // from 1; 0 means 1
	// PerPage is 1 to 200; 0 means 50.
	PerPage int
}

// A List is a page of entries.
type List struct {
	Entries []EmailDetalle // by SocioID
	Total   int            // entries of the filter, over all pages
	Page    int
	PerPage int
	Resumen Resumen // of the whole lote
}

// List returns a page of a lote's entries. A schema without the detail table has
// none; an unknown lote is [ErrUnknownLote].
func (s *Service) List(ctx context.Context, request ListRequest) (List, error) {
	list := List{Page: max(request.Page, 1), PerPage: request.PerPage}
	if list.PerPage == 0 {
		list.PerPage = DefaultPerPage
	}
	if list.PerPage < 1 || list.PerPage > MaxPerPage || list.Page > maxInteger/MaxPerPage {
		return List{}, fmt.Errorf("billingmail: list: page %d of %d entries; want 1 to %d entries", request.Page, request.PerPage, MaxPerPage)
	}
	err := s.inLote(ctx, request.Schema, request.LoteID, func(tx pgx.Tx, b branch) (err error) {
		if list.Resumen, err = b.count(ctx, tx, request.LoteID); err != nil {
			return err
		}
		if request.Socio != 0 {
			list.Entries, err = b.list(ctx, tx, request.LoteID, request.Estado, request.Socio-1, 1, 0)
			if len(list.Entries) == 1 && list.Entries[0].SocioID != request.Socio {
				list.Entries = nil
			}
			list.Total = len(list.Entries)
			return err
		}
		list.Total = list.Resumen.of(request.Estado)
		list.Entries, err = b.list(ctx, tx, request.LoteID, request.Estado, 0, list.PerPage, (list.Page-1)*list.PerPage)
		return err
	})
	if err != nil {
		return List{}, fmt.Errorf("billingmail: list lote %d of schema %q: %w", request.LoteID, request.Schema, err)
	}
	return list, nil
}

// of returns the count of an estado, or of all.
func (r Resumen) of(estado Estado) int {
	switch estado {
	case Pendiente:
		return r.Pendiente
	case Enviado:
		return r.Enviado
	case Error:
		return r.Error
	case Omitido:
		return r.Omitido
	}
	return r.Total()
}

// exportPage is how many entries an export reads at a time.
const exportPage = 1000

// Export yields all entries of a lote by member, a page at a time, so that
// neither a transaction nor memory is held by whoever reads slowly. Errors are
// those of [Service.List], and end it.
func (s *Service) Export(ctx context.Context, schema string, loteID int64, estado Estado) iter.Seq2[EmailDetalle, error] {
	return func(yield func(EmailDetalle, error) bool) {
		after := int64(0)
		for {
			var page []EmailDetalle
			err := s.inLote(ctx, schema, loteID, func(tx pgx.Tx, b branch) (err error) {
				page, err = b.list(ctx, tx, loteID, estado, after, exportPage, 0)
				return err
			})
			if err != nil {
				yield(EmailDetalle{}, fmt.Errorf("billingmail: export lote %d of schema %q: %w", loteID, schema, err))
				return
			}
			for _, entry := range page {
				if !yield(entry, nil) {
					return
				}
				after = entry.SocioID
			}
			if len(page) < exportPage {
				return
			}
		}
	}
}

// A LoteFinder is a [LoteReader] that can tell of a lote without reading its
// entries. [AuditoriaReader] is one; for another, lotes are read from their
// beginning.
type LoteFinder interface {
	// FindLote is ReadLote without entries.
	FindLote(ctx context.Context, tx pgx.Tx, loteID int64) (Lote, error)
}

// FindLote implements [LoteFinder].
func (AuditoriaReader) FindLote(ctx context.Context, tx pgx.Tx, loteID int64) (Lote, error) {
	return readAuditoria(ctx, tx, loteID)
}

// errEnough ends a reading that wanted to know only whether there is a lote.
var errEnough = errors.New("enough")

// inLote is inBranch for a lote that exists. A schema without the detail table
// is not asked further.
func (s *Service) inLote(ctx context.Context, schema string, loteID int64, f func(tx pgx.Tx, b branch) error) error {
	if err := errors.Join(CheckSchema(schema), checkLoteID(loteID)); err != nil {
		return err
	}
	return s.inBranch(ctx, schema, func(tx pgx.Tx, b branch) error {
		if err := s.find(ctx, tx, loteID); err != nil || b.table == tableMissing {
			return err
		}
		return f(tx, b)
	})
}

func (s *Service) find(ctx context.Context, tx pgx.Tx, loteID int64) error {
	if finder, ok := s.config.Lotes.(LoteFinder); ok {
		_, err := finder.FindLote(ctx, tx, loteID)
		return err
	}
	_, err := s.config.Lotes.ReadLote(ctx, tx, loteID, func(Entry) error { return errEnough })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
