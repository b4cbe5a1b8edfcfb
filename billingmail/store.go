package billingmail

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"
)

// The statements of the detail table. Each names the schema, quoted, and is run
// in a mode that caches no plan: one that was made under another search path
// fails or, worse, works.

// mark is an entry as a resend begins it.
type mark struct {
	socioID int64
	email   string
	estado  Estado // Pendiente or Omitido
	reason  string // why it is omitido
}

// result is what came of an entry.
type result struct {
	socioID      int64
	email        string
	estado       Estado
	detail       string
	reintentable bool
	attempted    bool  // a message was handed to the sender
	fault        error // the cause of an error
}

// sql returns a statement for a branch. {job…} is left out where the table
// lacks the columns of the second migration.
func (b branch) sql(statement string) string {
	name := pgx.Identifier{b.schema, detailTable}.Sanitize()
	statement = strings.ReplaceAll(statement, "{row of r}", rowOfR)
	statement = strings.ReplaceAll(statement, "{table}", name)
	for _, part := range []struct{ mark, whole string }{
		{"{set job}", ", job_id = $2, reintentable = NULL"}, {"{columns job}", ", job_id"}, {"{values job}", ", $2"},
		{"{set retry}", ", reintentable = r.retry"}, {"{columns retry}", ", job_id, reintentable"}, {"{values retry}", ", $2, r.retry"},
		{"{of job}", " AND (job_id = $2 OR job_id IS NULL)"}, {"{select job}", ", job_id, reintentable"}, {"{not for good}", " AND reintentable IS DISTINCT FROM false"},
	} {
		if b.table != tableWhole {
			switch part.mark {
			case "{select job}":
				part.whole = ", NULL::bigint, NULL::boolean"
			default:
				part.whole = ""
			}
		}
		statement = strings.ReplaceAll(statement, part.mark, part.whole)
	}
	return statement
}

// rowOfR is the row of a member, looked up one by one: to PostgreSQL, whose
// statistics know nothing of a lote that was just added, a join with the lote
// looks like one with a single row, and it would read the whole lote for each
// batch.
const rowOfR = `(SELECT d.id FROM {table} d WHERE d.lote_id = $1 AND d.socio_id = r.socio_id) AS row_id`

// upsertMarks begins entries. It updates first, since ON CONFLICT alone burns a
// number of the SERIAL for each row that is there already.
func (b branch) upsertMarks(ctx context.Context, tx pgx.Tx, loteID, jobID int64, marks []mark) error {
	ids, emails, estados, reasons := make([]int64, len(marks)), make([]string, len(marks)), make([]string, len(marks)), make([]string, len(marks))
	for i, m := range marks {
		ids[i], emails[i], estados[i], reasons[i] = m.socioID, m.email, string(m.estado), m.reason
	}
	_, err := tx.Exec(ctx, b.sql(`
		WITH r AS MATERIALIZED (
			SELECT r.*, {row of r} FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[]) AS r (socio_id, email, estado, reason)),
		changed AS (
			UPDATE {table} d SET email = NULLIF(r.email, ''), estado = r.estado, error_detalle = NULLIF(r.reason, ''), updated_at = now(){set job}
			FROM r WHERE d.id = r.row_id)
		INSERT INTO {table} (lote_id, socio_id, email, estado, error_detalle{columns job})
		SELECT $1, r.socio_id, NULLIF(r.email, ''), r.estado, NULLIF(r.reason, ''){values job}
		FROM r WHERE r.row_id IS NULL AND $2::bigint IS NOT NULL`),
		pgx.QueryExecModeExec, loteID, jobID, ids, emails, estados, reasons)
	if err != nil {
		return fmt.Errorf("billingmail: mark the entries of lote %d: %w", loteID, err)
	}
	return nil
}

// upsertEntryResults records what came of entries: the contract's
// upsertEntryResult, for many. What another job has marked anew is left alone,
// unless the member has the e-mail.
func (b branch) upsertEntryResults(ctx context.Context, tx pgx.Tx, loteID, jobID int64, results []result) error {
	n := len(results)
	ids, emails, estados, details := make([]int64, n), make([]string, n), make([]string, n), make([]string, n)
	retries, attempts := make([]*bool, n), make([]bool, n)
	for i, r := range results {
		ids[i], emails[i], estados[i], details[i], attempts[i] = r.socioID, r.email, string(r.estado), r.detail, r.attempted
		if r.estado == Error {
			retries[i] = &r.reintentable
		}
	}
	_, err := tx.Exec(ctx, b.sql(`
		WITH r AS MATERIALIZED (
			SELECT r.*, {row of r} FROM unnest($3::bigint[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::boolean[])
				AS r (socio_id, email, estado, detail, retry, attempted)),
		changed AS (
			UPDATE {table} d SET email = NULLIF(r.email, ''), estado = r.estado, error_detalle = NULLIF(r.detail, ''),
				intentos = d.intentos + r.attempted::int, ultimo_intento = CASE WHEN r.attempted THEN now() ELSE d.ultimo_intento END,
				updated_at = now(){set retry}
			FROM r WHERE d.id = r.row_id AND (r.estado = 'enviado' OR (d.estado <> 'enviado'{of job})))
		INSERT INTO {table} (lote_id, socio_id, email, estado, error_detalle, intentos, ultimo_intento{columns retry})
		SELECT $1, r.socio_id, NULLIF(r.email, ''), r.estado, NULLIF(r.detail, ''), r.attempted::int, CASE WHEN r.attempted THEN now() END{values retry}
		FROM r WHERE r.row_id IS NULL AND $2::bigint IS NOT NULL`),
		pgx.QueryExecModeExec, loteID, jobID, ids, emails, estados, details, retries, attempts)
	if err != nil {
		return fmt.Errorf("billingmail: record the results of lote %d: %w", loteID, err)
	}
	return nil
}

// settled returns the members who are not to be written to again by a retry:
// those who have the e-mail (the contract's GetEnviadoSocioIDs) and, apart from
// them, those who are omitido or whose error does not pass.
func (b branch) settled(ctx context.Context, tx pgx.Tx, loteID int64) (enviado, others map[int64]bool, err error) {
	rows, err := tx.Query(ctx, b.sql(`
		SELECT socio_id, estado = 'enviado' FROM {table}
		WHERE lote_id = $1 AND NOT (estado IN ('pendiente', 'error'){not for good})`), pgx.QueryExecModeExec, loteID)
	if err != nil {
		return nil, nil, fmt.Errorf("billingmail: read the sent entries of lote %d: %w", loteID, err)
	}
	enviado, others = map[int64]bool{}, map[int64]bool{}
	var socioID int64
	var sent bool
	_, err = pgx.ForEachRow(rows, []any{&socioID, &sent}, func() error {
		if sent {
			enviado[socioID] = true
		} else {
			others[socioID] = true
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("billingmail: read the sent entries of lote %d: %w", loteID, err)
	}
	return enviado, others, nil
}

// omitPending ends what a job has not sent, and returns how many entries.
func (b branch) omitPending(ctx context.Context, tx pgx.Tx, loteID, jobID int64, reason string) (int64, error) {
	tag, err := tx.Exec(ctx, b.sql(`
		UPDATE {table} d SET estado = 'omitido', error_detalle = $3, updated_at = now()
		WHERE d.lote_id = $1 AND d.estado = 'pendiente' AND $2::bigint IS NOT NULL{of job}`),
		pgx.QueryExecModeExec, loteID, jobID, reason)
	if err != nil {
		return 0, fmt.Errorf("billingmail: end the entries of lote %d: %w", loteID, err)
	}
	return tag.RowsAffected(), nil
}

// count returns how many entries a lote has, by estado.
func (b branch) count(ctx context.Context, tx pgx.Tx, loteID int64) (Resumen, error) {
	var r Resumen
	err := tx.QueryRow(ctx, b.sql(`
		SELECT count(*) FILTER (WHERE estado = 'pendiente'), count(*) FILTER (WHERE estado = 'enviado'),
			count(*) FILTER (WHERE estado = 'error'), count(*) FILTER (WHERE estado = 'omitido')
		FROM {table} WHERE lote_id = $1`), pgx.QueryExecModeExec, loteID).Scan(&r.Pendiente, &r.Enviado, &r.Error, &r.Omitido)
	if err != nil {
		return Resumen{}, fmt.Errorf("billingmail: count the entries of lote %d: %w", loteID, err)
	}
	return r, nil
}

const detailColumns = `id, lote_id, socio_id, email, estado, intentos, ultimo_intento, error_detalle, created_at, updated_at{select job}`

func scanDetail(row pgx.CollectableRow) (EmailDetalle, error) {
	var d EmailDetalle
	err := row.Scan(&d.ID, &d.LoteID, &d.SocioID, (*zeronull.Text)(&d.Email), &d.Estado, &d.Intentos,
		(*zeronull.Timestamptz)(&d.UltimoIntento), (*zeronull.Text)(&d.ErrorDetalle), &d.CreatedAt, &d.UpdatedAt,
		(*zeronull.Int8)(&d.JobID), &d.Reintentable)
	return d, err
}

// list returns a page of entries by member, those after a member when after is
// not 0.
func (b branch) list(ctx context.Context, tx pgx.Tx, loteID int64, estado Estado, after int64, limit, offset int) ([]EmailDetalle, error) {
	rows, err := tx.Query(ctx, b.sql(`
		SELECT `+detailColumns+` FROM {table}
		WHERE lote_id = $1 AND ($2::text = '' OR estado = $2) AND socio_id > $3 ORDER BY socio_id LIMIT $4 OFFSET $5`),
		pgx.QueryExecModeExec, loteID, string(estado), after, limit, offset)
	if err != nil {
		return nil, fmt.Errorf("billingmail: list the entries of lote %d: %w", loteID, err)
	}
	entries, err := pgx.CollectRows(rows, scanDetail)
	if err != nil {
		return nil, fmt.Errorf("billingmail: list the entries of lote %d: %w", loteID, err)
	}
	return entries, nil
}

// recent returns how many entries were attempted within the last seconds.
func (b branch) recent(ctx context.Context, tx pgx.Tx, loteID int64, seconds float64) (int, error) {
	var n int
	err := tx.QueryRow(ctx, b.sql(`
		SELECT count(*) FROM {table} WHERE lote_id = $1 AND ultimo_intento > now() - make_interval(secs => $2)`),
		pgx.QueryExecModeExec, loteID, seconds).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("billingmail: count the entries of lote %d: %w", loteID, err)
	}
	return n, nil
}
