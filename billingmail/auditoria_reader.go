package billingmail

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// An AuditoriaReader reads lotes from the table
// membresia_facturacion_lote_auditoria, wherever the search path finds it:
//
//	id                integer or bigint
//	estado            text: "simulacion", "en_progreso"; anything else is finished
//	request_completo  jsonb: {"prueba": true, "simulacion": false}, each of them optional
//	detalles          jsonb: {"gruposExitosos": [...]}, see below
//
// A group of gruposExitosos, the only place where these stand, is
//
//	{
//	  "socio_id": 17,
//	  "nombre": "Ana Muñoz",
//	  "email": "ana@example.com",
//	  "comprobantes": [
//	    {"tipo": "Factura", "numero": "A-0001", "importe": 1450.5, "moneda": "UYU", "vencimiento": "2026-12-10", "url": "https://…"}
//	  ]
//	}
//
// Unknown keys are passed over. importe may be a number or a text of one;
// vencimiento a date or a moment; email and nombre may be missing or null. A
// member that stands in two groups is one entry, with the vouchers of both. A
// group that is malformed has its entry omitted, with the reason; one without a
// socio_id that can be used belongs to nobody, and is counted and passed over.
//
// PostgreSQL unpacks all of detalles at each reading, and holds at most 255 MB.
type AuditoriaReader struct{}

const auditoriaHeader = `
	SELECT estado::text, jsonb_typeof(request_completo -> 'prueba') = 'boolean', request_completo -> 'prueba' = 'true',
		request_completo -> 'simulacion' = 'true', jsonb_typeof(detalles -> 'gruposExitosos') = 'array'
	FROM membresia_facturacion_lote_auditoria WHERE id = $1`

// auditoriaGroups orders by member, so that its groups come together: PostgreSQL
// sorts on disk what does not fit its memory.
const auditoriaGroups = `
	SELECT socio_id, jsonb_agg(grupo ORDER BY n)::text
	FROM (
		SELECT grupo, n, CASE
			WHEN jsonb_typeof(grupo) = 'object' AND grupo ->> 'socio_id' ~ '^[1-9][0-9]{0,9}$' THEN (grupo ->> 'socio_id')::bigint
		END AS socio_id
		FROM membresia_facturacion_lote_auditoria, jsonb_array_elements(detalles -> 'gruposExitosos') WITH ORDINALITY AS g (grupo, n)
		WHERE id = $1
	) grupos
	WHERE socio_id <= 2147483647
	GROUP BY socio_id ORDER BY socio_id`

// ReadLote implements [LoteReader].
func (AuditoriaReader) ReadLote(ctx context.Context, tx pgx.Tx, loteID int64, entry func(Entry) error) (Lote, error) {
	lote, err := readAuditoria(ctx, tx, loteID)
	if err != nil || lote.check() != nil {
		return lote, err
	}
	rows, err := tx.Query(ctx, auditoriaGroups, pgx.QueryExecModeExec, loteID)
	if err != nil {
		return Lote{}, fmt.Errorf("billingmail: read lote %d: %w", loteID, err)
	}
	var socioID int64
	var groups string
	_, err = pgx.ForEachRow(rows, []any{&socioID, &groups}, func() error {
		return entry(parseGroups(socioID, []byte(groups)))
	})
	if err != nil {
		return Lote{}, fmt.Errorf("billingmail: read lote %d: %w", loteID, err)
	}
	return lote, nil
}

func readAuditoria(ctx context.Context, tx pgx.Tx, loteID int64) (Lote, error) {
	var estado *string
	var saysPrueba, prueba, simulacion, hasDetails *bool
	err := tx.QueryRow(ctx, auditoriaHeader, pgx.QueryExecModeExec, loteID).Scan(&estado, &saysPrueba, &prueba, &simulacion, &hasDetails)
	switch {
	case errors.Is(err, pgx.ErrNoRows), isGone(err): // also where the search path has no such table
		return Lote{}, ErrUnknownLote
	case err != nil:
		return Lote{}, fmt.Errorf("billingmail: read lote %d: %w", loteID, err)
	}
	lote := Lote{State: LoteFinished, HasDetails: isTrue(hasDetails)}
	switch {
	case isTrue(simulacion), estado != nil && *estado == string(LoteSimulation):
		lote.State = LoteSimulation
	case estado != nil && *estado == string(LoteInProgress):
		lote.State = LoteInProgress
	}
	if isTrue(saysPrueba) {
		lote.Prueba = prueba
	}
	return lote, nil
}

func isTrue(b *bool) bool { return b != nil && *b }

// parseGroups makes one entry of a member's groups.
func parseGroups(socioID int64, encoded []byte) Entry {
	merged := Entry{SocioID: socioID}
	var groups []json.RawMessage
	if err := json.Unmarshal(encoded, &groups); err != nil {
		merged.Fault = "los datos del lote no se pueden leer"
		return merged
	}
	for _, raw := range groups {
		group, fault := parseGroup(raw)
		if merged.Nombre == "" {
			merged.Nombre = group.Nombre
		}
		if merged.Email == "" {
			merged.Email = group.Email
		}
		if merged.Fault == "" {
			merged.Fault = fault
		}
		merged.Comprobantes = append(merged.Comprobantes, group.Comprobantes...)
	}
	return merged
}
