package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype/zeronull"
)

// db is what the store needs of a pool or a transaction.
type db interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// store holds the package's SQL, for one schema. Every statement names the
// schema and its columns; durations travel as microseconds.
type store struct {
	schema string
	table  string
	sql    statements
}

type statements struct {
	probe, claim, look, renew, mark       string
	sent, failed, holdDead, resolve, get  string
	deleteSent, deleteFailed, countOnHold string
}

// deliveryColumns are scanned by scanDelivery, in this order.
const deliveryColumns = `id, tenant, delivery_key, kind, on_unknown, message_id, created_at, updated_at,
	status, attempts, last_error, sent_at, server_response, claim_number, claimed_until,
	resolved_at, resolved_by, resolve_reason`

func newStore(schema string) *store {
	table := pgx.Identifier{schema, "email_deliveries"}.Sanitize()
	// An expired claim may be taken over only when PostgreSQL has been up for
	// one lease time: its owner could not renew it, or write its result, while
	// PostgreSQL was down (contract, section 3).
	claimEnd := `GREATEST(d.claimed_until, pg_postmaster_start_time() + $LEASE)`
	fill := strings.NewReplacer("{deliveries}", table, "{columns}", deliveryColumns, "{claim_end}", claimEnd).Replace
	lease := func(text, parameter string) string {
		return strings.ReplaceAll(fill(text), "$LEASE", parameter+"::bigint * interval '1 microsecond'")
	}
	return &store{schema: schema, table: table, sql: statements{
		probe: fill(`SELECT count(*) FROM (SELECT {columns}, transmitting FROM {deliveries} LIMIT 0) d`),
		claim: lease(`INSERT INTO {deliveries} AS d (tenant, delivery_key, kind, on_unknown, message_id, claimed_until)
			VALUES ($1, $2, $3, $4, $5, now() + $LEASE)
			ON CONFLICT (tenant, delivery_key) DO UPDATE SET
				status = 'processing', kind = excluded.kind, on_unknown = excluded.on_unknown, attempts = d.attempts + 1,
				claim_number = d.claim_number + 1, claimed_until = excluded.claimed_until, transmitting = false, updated_at = now()
			WHERE d.status = 'failed'
				OR d.status = 'unknown' AND d.on_unknown = 'resend' AND excluded.on_unknown = 'resend'
				OR d.status = 'processing' AND $7::boolean AND {claim_end} <= now() AND NOT d.transmitting
			RETURNING d.id, d.claim_number, d.message_id, d.created_at`, "$6"),
		look: lease(`SELECT d.id, d.status, d.claim_number, d.message_id, d.server_response, d.transmitting,
				COALESCE(GREATEST(extract(epoch FROM {claim_end} - now()), 0), 0)::float8
			FROM {deliveries} d WHERE d.tenant = $1 AND d.delivery_key = $2`, "$3"),
		renew: lease(`UPDATE {deliveries} SET claimed_until = now() + $LEASE
			WHERE id = $1 AND claim_number = $2 AND status = 'processing'`, "$3"),
		mark: fill(`UPDATE {deliveries} SET transmitting = true, updated_at = now()
			WHERE id = $1 AND claim_number = $2 AND status = 'processing'`),
		sent: fill(`UPDATE {deliveries} SET status = 'sent', sent_at = now(), server_response = $2, last_error = NULL,
				transmitting = false, updated_at = now()
			WHERE id = $1 AND status <> 'sent'`),
		failed: fill(`UPDATE {deliveries} SET status = $3, last_error = $4, transmitting = false, updated_at = now()
			WHERE id = $1 AND claim_number = $2 AND status = 'processing'`),
		holdDead: lease(`UPDATE {deliveries} AS d SET status = 'unknown', last_error = $3, updated_at = now()
			WHERE d.id = $1 AND d.claim_number = $2 AND d.status = 'processing' AND d.transmitting AND {claim_end} <= now()`, "$4"),
		resolve: fill(`UPDATE {deliveries} SET status = $3, sent_at = CASE $3 WHEN 'sent' THEN now() END,
				resolved_at = now(), resolved_by = $4, resolve_reason = $5, updated_at = now()
			WHERE tenant = $1 AND delivery_key = $2 AND status = 'unknown'`),
		get: fill(`SELECT {columns} FROM {deliveries} WHERE tenant = $1 AND delivery_key = $2`),
		deleteSent: fill(`DELETE FROM {deliveries} WHERE id IN (SELECT id FROM {deliveries}
			WHERE status = 'sent' AND sent_at < now() - $1::bigint * interval '1 microsecond'
			ORDER BY sent_at LIMIT $2 FOR UPDATE SKIP LOCKED)`),
		deleteFailed: fill(`DELETE FROM {deliveries} WHERE id IN (SELECT id FROM {deliveries}
			WHERE status = 'failed' AND updated_at < now() - $1::bigint * interval '1 microsecond'
			LIMIT $2 FOR UPDATE SKIP LOCKED)`),
		countOnHold: fill(`SELECT count(*) FROM {deliveries} WHERE status = 'unknown' AND on_unknown = 'hold'`),
	}}
}

// claim is a worker's ownership of a delivery.
type claim struct {
	id        int64
	number    int64 // the fencing number
	messageID string
	date      time.Time // when the key was claimed first
	onUnknown UnknownPolicy
}

// row is what stands in the way of a claim.
type row struct {
	id           int64
	status       Status
	claimNumber  int64
	messageID    string
	response     string
	transmitting bool
	remaining    time.Duration // until the claim can be taken over
}

// claim takes the key; nil means that it cannot be had. calm tells whether a
// claim that has expired may be taken over.
func (s *store) claim(ctx context.Context, q db, d Delivery, messageID string, lease time.Duration, calm bool) (*claim, error) {
	c := &claim{onUnknown: d.OnUnknown}
	err := q.QueryRow(ctx, s.sql.claim, d.Tenant, d.Key, d.Kind, d.OnUnknown, messageID, lease.Microseconds(), calm).
		Scan(&c.id, &c.number, &c.messageID, &c.date)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return c, err
}

// look reads the row of a key; nil means that there is none.
func (s *store) look(ctx context.Context, q db, tenant, key string, lease time.Duration) (*row, error) {
	var r row
	var seconds float64
	err := q.QueryRow(ctx, s.sql.look, tenant, key, lease.Microseconds()).
		Scan(&r.id, &r.status, &r.claimNumber, &r.messageID, (*zeronull.Text)(&r.response), &r.transmitting, &seconds)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	r.remaining = time.Duration(seconds * float64(time.Second))
	return &r, err
}

// renew prolongs a claim and reports whether it is still owned.
func (s *store) renew(ctx context.Context, q db, c *claim, lease time.Duration) (bool, error) {
	tag, err := q.Exec(ctx, s.sql.renew, c.id, c.number, lease.Microseconds())
	return tag.RowsAffected() == 1, err
}

// mark records that the final dot is about to be written, and reports whether
// the claim is still owned.
func (s *store) mark(ctx context.Context, q db, c *claim) (bool, error) {
	tag, err := q.Exec(ctx, s.sql.mark, c.id, c.number)
	return tag.RowsAffected() == 1, err
}

// sent records that the server took the message, whoever owns the claim.
func (s *store) sent(ctx context.Context, q db, id int64, response string) error {
	_, err := q.Exec(ctx, s.sql.sent, id, response)
	return err
}

// failed records what went wrong, and reports whether the claim was owned.
func (s *store) failed(ctx context.Context, q db, c *claim, status Status, text string) (bool, error) {
	tag, err := q.Exec(ctx, s.sql.failed, c.id, c.number, status, text)
	return tag.RowsAffected() == 1, err
}

// holdDead puts on hold what a worker was about to transmit when it died.
func (s *store) holdDead(ctx context.Context, q db, r *row, lease time.Duration) error {
	_, err := q.Exec(ctx, s.sql.holdDead, r.id, r.claimNumber,
		"the worker died, or was cut off, after it began to write the final dot", lease.Microseconds())
	return err
}

func (s *store) probe(ctx context.Context, q db) error {
	var none int64
	return s.explain("check the table of deliveries", q.QueryRow(ctx, s.sql.probe).Scan(&none))
}

func (s *store) get(ctx context.Context, q db, tenant, key string) (*Record, error) {
	record, err := scanDelivery(q.QueryRow(ctx, s.sql.get, tenant, key))
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	return record, s.explain(fmt.Sprintf("get delivery %q", key), err)
}

func scanDelivery(r pgx.Row) (*Record, error) {
	var d Record
	err := r.Scan(&d.ID, &d.Tenant, &d.Key, &d.Kind, &d.OnUnknown, &d.MessageID, &d.CreatedAt, &d.UpdatedAt,
		&d.Status, &d.Attempts, (*zeronull.Text)(&d.LastError), (*zeronull.Timestamptz)(&d.SentAt), (*zeronull.Text)(&d.Response),
		&d.ClaimNumber, (*zeronull.Timestamptz)(&d.ClaimedUntil),
		(*zeronull.Timestamptz)(&d.ResolvedAt), (*zeronull.Text)(&d.ResolvedBy), (*zeronull.Text)(&d.ResolveReason))
	if err != nil {
		return nil, err
	}
	return &d, nil
}
