package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype/zeronull"
	"github.com/jackc/pgx/v5/pgxpool"
)

// store holds the package's SQL, for one schema and lease time. Every statement
// names the schema and its columns.
type store struct {
	schema string
	table  string
	sql    statements
}

type statements struct {
	probe, claim, look, seeExpiry, renew, mark string
	sent, failed, holdDead, hold, resolve, get string
	deleteSent, deleteFailed, countOnHold      string
}

// deliveryColumns are scanned by scanDelivery, in this order.
const deliveryColumns = `id, tenant, delivery_key, kind, on_unknown, message_id, created_at, updated_at,
	status, attempts, last_error, sent_at, server_response, claim_number, claimed_until,
	resolved_at, resolved_by, resolve_reason`

func newStore(schema string, lease time.Duration) *store {
	table := pgx.Identifier{schema, "email_deliveries"}.Sanitize()
	// A claim has expired when its lease is over and PostgreSQL has been up for
	// one lease time: its owner could not renew it, or write its result, while
	// PostgreSQL was down (contract, section 3).
	claimEnd := `GREATEST(d.claimed_until, pg_postmaster_start_time() + {lease})`
	// Recovery comes after the start of PostgreSQL, though, and a failover
	// without one. So an expired claim is taken over only when it was found
	// expired a while ago, and its owner, who renews and writes at once when
	// the database is back, has let that pass.
	abandoned := claimEnd + ` <= now() AND d.expiry_seen_at <= now() - {notice}`
	fill := func(text string) string {
		text = strings.NewReplacer("{claim_end}", claimEnd, "{abandoned}", abandoned).Replace(text)
		return strings.NewReplacer("{deliveries}", table, "{columns}", deliveryColumns,
			"{lease}", interval(lease), "{notice}", interval(noticeTime(lease))).Replace(text)
	}
	return &store{schema: schema, table: table, sql: statements{
		probe: fill(`SELECT count(*) FROM (SELECT {columns}, transmitting FROM {deliveries} LIMIT 0) d`),
		claim: fill(`INSERT INTO {deliveries} AS d (tenant, delivery_key, kind, on_unknown, message_id, claimed_until)
			VALUES ($1, $2, $3, $4, $5, now() + {lease})
			ON CONFLICT (tenant, delivery_key) DO UPDATE SET
				status = 'processing', kind = excluded.kind, on_unknown = excluded.on_unknown, attempts = d.attempts + 1,
				claim_number = d.claim_number + 1, claimed_until = excluded.claimed_until, expiry_seen_at = NULL,
				transmitting = false, updated_at = now()
			WHERE d.status = 'failed'
				OR d.status = 'unknown' AND d.on_unknown = 'resend' AND excluded.on_unknown = 'resend'
				OR d.status = 'processing' AND NOT d.transmitting AND {abandoned}
			RETURNING d.id, d.claim_number, d.message_id, d.created_at`),
		look: fill(`SELECT d.id, d.status, d.on_unknown, d.claim_number, d.message_id, d.server_response, d.transmitting,
				d.expiry_seen_at IS NOT NULL,
				COALESCE(extract(epoch FROM GREATEST({claim_end}, d.expiry_seen_at + {notice}) - now()), 0)::float8
			FROM {deliveries} d WHERE d.tenant = $1 AND d.delivery_key = $2`),
		seeExpiry: fill(`UPDATE {deliveries} AS d SET expiry_seen_at = now()
			WHERE d.id = $1 AND d.claim_number = $2 AND d.status = 'processing' AND d.expiry_seen_at IS NULL
				AND {claim_end} <= now()`),
		renew: fill(`UPDATE {deliveries} SET claimed_until = now() + {lease}, expiry_seen_at = NULL
			WHERE id = $1 AND claim_number = $2 AND status = 'processing'`),
		mark: fill(`UPDATE {deliveries} SET transmitting = true, updated_at = now()
			WHERE id = $1 AND claim_number = $2 AND status = 'processing'`),
		sent: fill(`UPDATE {deliveries} SET status = 'sent', sent_at = now(), server_response = $2, last_error = NULL,
				transmitting = false, updated_at = now()
			WHERE id = $1 AND status <> 'sent'`),
		failed: fill(`UPDATE {deliveries} SET status = $3, last_error = $4, transmitting = false, updated_at = now()
			WHERE id = $1 AND claim_number = $2 AND status = 'processing'`),
		holdDead: fill(`UPDATE {deliveries} AS d SET status = 'unknown', last_error = $3, updated_at = now()
			WHERE d.id = $1 AND d.claim_number = $2 AND d.status = 'processing' AND d.transmitting AND {abandoned}`),
		resolve: fill(`UPDATE {deliveries} SET status = $3, sent_at = CASE $3 WHEN 'sent' THEN now() END,
				resolved_at = now(), resolved_by = $4, resolve_reason = $5, updated_at = now()
			WHERE tenant = $1 AND delivery_key = $2 AND status = 'unknown'`),
		hold: fill(`UPDATE {deliveries} SET on_unknown = 'hold', updated_at = now() WHERE id = $1 AND status = 'unknown'`),
		get:  fill(`SELECT {columns} FROM {deliveries} WHERE tenant = $1 AND delivery_key = $2`),
		deleteSent: fill(`DELETE FROM {deliveries} WHERE id IN (SELECT id FROM {deliveries}
			WHERE status = 'sent' AND sent_at < now() - $1::bigint * interval '1 microsecond'
			ORDER BY sent_at LIMIT 1000 FOR UPDATE SKIP LOCKED)`),
		deleteFailed: fill(`DELETE FROM {deliveries} WHERE id IN (SELECT id FROM {deliveries}
			WHERE status = 'failed' AND updated_at < now() - $1::bigint * interval '1 microsecond'
			LIMIT 1000 FOR UPDATE SKIP LOCKED)`),
		countOnHold: fill(`SELECT count(*) FROM {deliveries} WHERE status = 'unknown' AND on_unknown = 'hold'`),
	}}
}

// interval returns d in SQL. A literal in microseconds would overflow in
// PostgreSQL 14, which reads its fields as 32-bit integers.
func interval(d time.Duration) string {
	return fmt.Sprintf("make_interval(secs => %.6f)", d.Seconds())
}

// noticeTime is how long a claim that was found expired is left to its owner.
// recordPause and firstRecordTimeout are small parts of it.
func noticeTime(lease time.Duration) time.Duration { return min(lease/4, 30*time.Second) }

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
	onUnknown    UnknownPolicy
	wanted       UnknownPolicy // the policy of the delivery that wants the key
	claimNumber  int64
	messageID    string
	response     string
	transmitting bool
	seen         bool          // somebody has found the claim expired
	remaining    time.Duration // until the claim has expired or, when that was seen, can be taken over
}

// claim takes the key; nil means that it cannot be had.
func (s *store) claim(ctx context.Context, pool *pgxpool.Pool, d Delivery, messageID string) (*claim, error) {
	c := &claim{onUnknown: d.OnUnknown}
	err := pool.QueryRow(ctx, s.sql.claim, d.Tenant, d.Key, d.Kind, d.OnUnknown, messageID).
		Scan(&c.id, &c.number, &c.messageID, &c.date)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return c, err
}

// look reads the row of a key; nil means that there is none.
func (s *store) look(ctx context.Context, pool *pgxpool.Pool, d Delivery) (*row, error) {
	r := row{wanted: d.OnUnknown}
	var seconds float64
	err := pool.QueryRow(ctx, s.sql.look, d.Tenant, d.Key).
		Scan(&r.id, &r.status, &r.onUnknown, &r.claimNumber, &r.messageID, (*zeronull.Text)(&r.response), &r.transmitting, &r.seen, &seconds)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	r.remaining = max(time.Duration(seconds*float64(time.Second)), 0)
	return &r, err
}

// resent reports whether the outcome is unknown and the key free all the same.
func (r *row) resent() bool {
	return r.status == StatusUnknown && r.onUnknown == Resend && r.wanted == Resend
}

// hold puts an unknown outcome on hold whose kind has that policy only now, so
// that whoever looks for what is on hold sees it.
func (s *store) hold(ctx context.Context, pool *pgxpool.Pool, r *row) error {
	if r.status != StatusUnknown || r.onUnknown == Hold {
		return nil
	}
	_, err := pool.Exec(ctx, s.sql.hold, r.id)
	return err
}

// seeExpiry notes that a claim was found expired.
func (s *store) seeExpiry(ctx context.Context, pool *pgxpool.Pool, r *row) error {
	_, err := pool.Exec(ctx, s.sql.seeExpiry, r.id, r.claimNumber)
	return err
}

// renew prolongs a claim and reports whether it is still owned.
func (s *store) renew(ctx context.Context, pool *pgxpool.Pool, c *claim) (bool, error) {
	tag, err := pool.Exec(ctx, s.sql.renew, c.id, c.number)
	return tag.RowsAffected() == 1, err
}

// mark records that the final dot is about to be written, and reports whether
// the claim is still owned.
func (s *store) mark(ctx context.Context, pool *pgxpool.Pool, c *claim) (bool, error) {
	tag, err := pool.Exec(ctx, s.sql.mark, c.id, c.number)
	return tag.RowsAffected() == 1, err
}

// sent records that the server took the message, whoever owns the claim.
func (s *store) sent(ctx context.Context, pool *pgxpool.Pool, id int64, response string) error {
	_, err := pool.Exec(ctx, s.sql.sent, id, response)
	return err
}

// failed records what went wrong, and reports whether the claim was owned.
func (s *store) failed(ctx context.Context, pool *pgxpool.Pool, c *claim, status Status, text string) (bool, error) {
	tag, err := pool.Exec(ctx, s.sql.failed, c.id, c.number, status, text)
	return tag.RowsAffected() == 1, err
}

// holdDead puts on hold what a worker was about to transmit when it died.
func (s *store) holdDead(ctx context.Context, pool *pgxpool.Pool, r *row) error {
	_, err := pool.Exec(ctx, s.sql.holdDead, r.id, r.claimNumber,
		"the worker died, or was cut off, after it began to write the final dot")
	return err
}

func (s *store) probe(ctx context.Context, pool *pgxpool.Pool) error {
	var none int64
	return s.explain("check the table of deliveries", pool.QueryRow(ctx, s.sql.probe).Scan(&none))
}

func (s *store) get(ctx context.Context, pool *pgxpool.Pool, tenant, key string) (*Record, error) {
	record, err := scanDelivery(pool.QueryRow(ctx, s.sql.get, tenant, key))
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
