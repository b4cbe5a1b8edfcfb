-- One row for each business key: the record that its e-mail was sent, or is
-- being sent, or what went wrong.
CREATE TABLE {schema}.email_deliveries (
    id              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant          text        NOT NULL,
    delivery_key    text        NOT NULL CHECK (delivery_key <> ''),
    kind            text        NOT NULL,
    on_unknown      text        NOT NULL CHECK (on_unknown IN ('resend', 'hold')),
    message_id      text        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),

    status          text        NOT NULL DEFAULT 'processing'
                    CHECK (status IN ('processing', 'sent', 'failed', 'unknown')),
    attempts        integer     NOT NULL DEFAULT 1,
    last_error      text,
    sent_at         timestamptz,
    server_response text,

    -- The fencing number: one more at every claim, never reset.
    claim_number    bigint      NOT NULL DEFAULT 1,
    claimed_until   timestamptz,
    -- When another worker first found the claim expired. It takes the claim
    -- over a little later, since the owner may only have been cut off.
    expiry_seen_at  timestamptz,
    -- For kinds that are held: committed before the final dot, so that a death
    -- earlier is known to be harmless.
    transmitting    boolean     NOT NULL DEFAULT false,

    resolved_at     timestamptz,
    resolved_by     text,
    resolve_reason  text,

    CHECK (status <> 'processing' OR claimed_until IS NOT NULL),
    CHECK (status <> 'sent' OR sent_at IS NOT NULL)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 1000
);

CREATE UNIQUE INDEX email_deliveries_key ON {schema}.email_deliveries (tenant, delivery_key);

-- What wants somebody's attention.
CREATE INDEX email_deliveries_unsent ON {schema}.email_deliveries (status, id) WHERE status <> 'sent';

-- What retention may drop, by age.
CREATE INDEX email_deliveries_sent_at ON {schema}.email_deliveries (sent_at) WHERE status = 'sent';
