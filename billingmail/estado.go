package billingmail

import "time"

// An Estado is where an entry stands (contract, section 5).
type Estado string

// The estados of an entry.
const (
	Pendiente Estado = "pendiente" // to be sent, by a job that is active
	Enviado   Estado = "enviado"   // the server took the message
	Error     Estado = "error"     // it did not, or nobody knows; the detail says why
	Omitido   Estado = "omitido"   // it was not sent, and is not to be
)

// Valid reports whether it is one of the four.
func (e Estado) Valid() bool {
	return e == Pendiente || e == Enviado || e == Error || e == Omitido
}

// An EmailDetalle is a row of membresia_facturacion_email_detalle. Zero times
// mean "never".
type EmailDetalle struct {
	ID            int64
	LoteID        int64
	SocioID       int64
	Email         string // empty for none
	Estado        Estado
	Intentos      int // over all jobs
	UltimoIntento time.Time
	ErrorDetalle  string // empty for none
	CreatedAt     time.Time
	UpdatedAt     time.Time

	// Of the second migration: zero and nil where the table lacks the columns.
	JobID        int64
	Reintentable *bool // of an error: whether it can pass by itself
}

// A Resumen counts the entries of a lote by estado.
type Resumen struct{ Pendiente, Enviado, Error, Omitido int }

// Total returns how many there are.
func (r Resumen) Total() int { return r.Pendiente + r.Enviado + r.Error + r.Omitido }

const (
	detailTable = "membresia_facturacion_email_detalle"
	maxInteger  = 1<<31 - 1 // of PostgreSQL's integer
	maxEmail    = 255       // characters of the column email
)
