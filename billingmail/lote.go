package billingmail

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/buzon-go/buzon/delivery/mail/view"
)

// Errors that say why a lote cannot be sent, to be compared with errors.Is.
var (
	// ErrUnknownSchema: there is no such schema in the database.
	ErrUnknownSchema = errors.New("the branch schema does not exist")
	// ErrUnknownLote: the lote does not exist.
	ErrUnknownLote = errors.New("the lote does not exist")
	// ErrSimulation: the lote was a simulation.
	ErrSimulation = errors.New("the lote is a simulation")
	// ErrInProgress: the lote is still being processed.
	ErrInProgress = errors.New("the lote is in progress")
	// ErrNoDetails: the lote says nothing of what it billed.
	ErrNoDetails = errors.New("the lote has no details")
	// ErrNoRecipients: the lote, or what was selected of it, has nobody to
	// write to.
	ErrNoRecipients = errors.New("the lote has no recipients")
)

// A LoteState is where a lote stands.
type LoteState string

// The states of a lote that matter for its e-mails.
const (
	LoteFinished   LoteState = "finalizado"
	LoteInProgress LoteState = "en_progreso"
	LoteSimulation LoteState = "simulacion"
)

// A Lote is what is known of a billing batch besides its entries.
type Lote struct {
	// State says whether it can be sent.
	State LoteState
	// Prueba says that no member is written to, and overrides what was asked
	// for. nil means that the lote does not say.
	Prueba *bool
	// HasDetails says that the lote tells whom it billed, be it nobody.
	HasDetails bool
}

// check returns why the lote cannot be sent, or nil.
func (l Lote) check() error {
	switch {
	case l.State == LoteSimulation:
		return ErrSimulation
	case l.State == LoteInProgress:
		return ErrInProgress
	case !l.HasDetails:
		return ErrNoDetails
	}
	return nil
}

// An Entry is what a lote has billed one member (socio).
type Entry struct {
	// SocioID is the member's, 1 to 2,147,483,647.
	SocioID int64
	// Nombre is how to address the member. Empty means without a name.
	Nombre string
	// Email is the address. Empty: nothing is sent, and the entry is omitido.
	Email string
	// Comprobantes are the vouchers, in the order to show them.
	Comprobantes []Comprobante
	// Fault, when not empty, says why the entry cannot be sent: it becomes
	// omitido with that reason, and the lote goes on.
	Fault string
}

// A Comprobante is a voucher: an invoice, a receipt.
type Comprobante struct {
	Tipo        string     // such as "Factura"
	Numero      string     // such as "A-0001"
	Importe     view.Money // a zero Money is not shown
	Vencimiento string     // "2006-01-02"; empty for none
	URL         string     // where it can be read, http or https; empty for nowhere
}

// A LoteReader reads lotes where a host keeps them. [AuditoriaReader] is the
// default.
type LoteReader interface {
	// ReadLote reads a lote through tx, whose search path is that of the branch
	// schema, and hands its entries to entry: each member once, by ascending
	// SocioID. An error of entry ends the reading and is returned. A lote that
	// does not exist is [ErrUnknownLote]; of one that cannot be sent no entries
	// need to be read. tx is not the reader's to end.
	ReadLote(ctx context.Context, tx pgx.Tx, loteID int64, entry func(Entry) error) (Lote, error)
}
