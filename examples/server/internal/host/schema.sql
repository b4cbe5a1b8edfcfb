-- The sample host's own tables, beside the library's schema. Each statement can
-- be repeated: the file runs at every start, on the tables of older versions
-- too.
CREATE SCHEMA IF NOT EXISTS sample_host;

-- The kinds of site that users have their account on. Its e-mails have the
-- tenant's sender, since it is the tenant's SMTP integration that sends them.
CREATE TABLE IF NOT EXISTS sample_host.website_types (
    code          text PRIMARY KEY,
    name          text NOT NULL,
    website_url   text NOT NULL,
    primary_color text NOT NULL,
    support_email text NOT NULL,
    footer        text NOT NULL
);

ALTER TABLE sample_host.website_types
    ADD COLUMN IF NOT EXISTS accent_color text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS logo         text NOT NULL DEFAULT ''; -- the name of a file in logos; empty for none

CREATE TABLE IF NOT EXISTS sample_host.tenants (
    code          text PRIMARY KEY,
    website_type  text REFERENCES sample_host.website_types, -- NULL: its own brand
    time_zone     text NOT NULL,

    name          text NOT NULL,
    website_url   text NOT NULL,
    primary_color text NOT NULL,
    from_address  text NOT NULL,
    support_email text NOT NULL,
    footer        text NOT NULL,

    -- The tenant's own SMTP integration. No host: that of the server's settings.
    smtp_host     text    NOT NULL DEFAULT '',
    smtp_port     integer NOT NULL DEFAULT 0,
    smtp_tls      text    NOT NULL DEFAULT 'starttls' CHECK (smtp_tls IN ('starttls', 'tls', 'none')),
    smtp_username text    NOT NULL DEFAULT '',
    smtp_password text    NOT NULL DEFAULT ''
);

ALTER TABLE sample_host.tenants
    ADD COLUMN IF NOT EXISTS language     text NOT NULL DEFAULT '', -- BCP 47
    ADD COLUMN IF NOT EXISTS accent_color text NOT NULL DEFAULT '',
    ADD COLUMN IF NOT EXISTS logo         text NOT NULL DEFAULT '';

CREATE TABLE IF NOT EXISTS sample_host.users (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_code text        NOT NULL REFERENCES sample_host.tenants,
    name        text        NOT NULL,
    email       text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

ALTER TABLE sample_host.users
    ADD COLUMN IF NOT EXISTS language text NOT NULL DEFAULT ''; -- BCP 47; empty: the tenant's

CREATE UNIQUE INDEX IF NOT EXISTS users_email ON sample_host.users (tenant_code, lower(email));

-- The code is here, and nowhere in the library's tables.
CREATE TABLE IF NOT EXISTS sample_host.reset_attempts (
    id           bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id      bigint      NOT NULL REFERENCES sample_host.users,
    code         text        NOT NULL,
    state        text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'cancelled', 'replaced')),
    requested_at timestamptz NOT NULL DEFAULT now(),
    expires_at   timestamptz NOT NULL
);

CREATE UNIQUE INDEX IF NOT EXISTS reset_attempts_pending ON sample_host.reset_attempts (user_id) WHERE state = 'pending';

-- Amounts are in the minor unit of the event's currency.
CREATE TABLE IF NOT EXISTS sample_host.events (
    code            text   PRIMARY KEY,
    tenant_code     text   NOT NULL REFERENCES sample_host.tenants,
    name            text   NOT NULL,
    venue           text   NOT NULL,
    address         text   NOT NULL,
    time_zone       text   NOT NULL,
    ticket_kind     text   NOT NULL,
    ticket_price    bigint NOT NULL,
    programme_price bigint NOT NULL,
    currency        text   NOT NULL
);

-- A date that is rescheduled stays, and points at the one in its place.
CREATE TABLE IF NOT EXISTS sample_host.event_dates (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_code  text        NOT NULL REFERENCES sample_host.events,
    starts_at   timestamptz NOT NULL,
    state       text        NOT NULL DEFAULT 'scheduled' CHECK (state IN ('scheduled', 'rescheduled', 'suspended')),
    moved_to    bigint      REFERENCES sample_host.event_dates,
    notice      text        NOT NULL DEFAULT '',
    seats_taken integer     NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX IF NOT EXISTS event_dates_start ON sample_host.event_dates (event_code, starts_at) WHERE state = 'scheduled';

CREATE TABLE IF NOT EXISTS sample_host.purchases (
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number        text        NOT NULL GENERATED ALWAYS AS ('C-' || (1000 + id)::text) STORED,
    user_id       bigint      NOT NULL REFERENCES sample_host.users,
    event_date_id bigint      NOT NULL REFERENCES sample_host.event_dates, -- where it stands now
    seats         integer     NOT NULL,
    total         bigint      NOT NULL,
    currency      text        NOT NULL,
    state         text        NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'paid', 'cancelled')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    paid_at       timestamptz
);

CREATE INDEX IF NOT EXISTS purchases_date ON sample_host.purchases (event_date_id, id);

CREATE TABLE IF NOT EXISTS sample_host.purchase_items (
    purchase_id bigint  NOT NULL REFERENCES sample_host.purchases,
    position    integer NOT NULL,
    description text    NOT NULL,
    quantity    integer NOT NULL,
    amount      bigint  NOT NULL,
    PRIMARY KEY (purchase_id, position)
);

CREATE TABLE IF NOT EXISTS sample_host.tickets (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    purchase_id bigint NOT NULL REFERENCES sample_host.purchases,
    code        text   NOT NULL UNIQUE,
    kind        text   NOT NULL,
    seat        text   NOT NULL,
    holder      text   NOT NULL,
    price       bigint NOT NULL
);

CREATE INDEX IF NOT EXISTS tickets_purchase ON sample_host.tickets (purchase_id, id);

-- Which paid purchases stood on a date when it was rescheduled. Their buyers
-- are told, even if the job that tells them runs when the purchases have moved
-- again.
CREATE TABLE IF NOT EXISTS sample_host.moved_purchases (
    event_date_id bigint NOT NULL REFERENCES sample_host.event_dates,
    purchase_id   bigint NOT NULL REFERENCES sample_host.purchases,
    PRIMARY KEY (event_date_id, purchase_id)
);

-- One tenant whose account e-mails look like its WebsiteType, and one that has
-- none.
INSERT INTO sample_host.website_types (code, name, website_url, primary_color, support_email, footer) VALUES
    ('socios', 'Portal de Socios', 'https://socios.example/', '#0f766e', 'ayuda@socios.example',
     E'Portal de Socios, un servicio para clubes\nAv. del Puerto 1200, Montevideo')
ON CONFLICT DO NOTHING;

INSERT INTO sample_host.tenants (code, website_type, time_zone, name, website_url, primary_color, from_address, support_email, footer) VALUES
    ('club-norte', 'socios', 'America/Montevideo', 'Club Norte', 'https://club-norte.example/', '#b91c1c',
     'hola@club-norte.example', 'secretaria@club-norte.example', E'Club Norte\nCamino del Bosque 45'),
    ('teatro-sur', NULL, 'America/Argentina/Buenos_Aires', 'Teatro del Sur', 'https://teatro-sur.example/', '#6d28d9',
     'boleteria@teatro-sur.example', 'boleteria@teatro-sur.example', E'Teatro del Sur\nDefensa 800, Buenos Aires')
ON CONFLICT DO NOTHING;

-- What they have got since.
UPDATE sample_host.website_types SET accent_color = '#b45309', logo = 'socios.png' WHERE code = 'socios' AND logo = '';

UPDATE sample_host.tenants t SET language = v.language, accent_color = v.accent_color, logo = v.logo
FROM (VALUES
    ('club-norte', 'es-UY', '#1d4ed8', 'club-norte.png'),
    ('teatro-sur', 'es-AR', '#0f766e', 'teatro-sur.png')
) v (code, language, accent_color, logo)
WHERE t.code = v.code AND t.logo = '';

INSERT INTO sample_host.events (code, tenant_code, name, venue, address, time_zone, ticket_kind, ticket_price, programme_price, currency) VALUES
    ('candombe', 'club-norte', 'Noche de candombe', 'Sede del Club Norte', 'Camino del Bosque 45, Montevideo',
     'America/Montevideo', 'Platea', 120000, 15000, 'UYU'),
    ('tempestad', 'teatro-sur', 'La tempestad', 'Sala grande', 'Defensa 800, Buenos Aires',
     'America/Argentina/Buenos_Aires', 'Platea baja', 2500000, 300000, 'ARS')
ON CONFLICT DO NOTHING;

-- Three evenings for each event that has none ahead.
INSERT INTO sample_host.event_dates (event_code, starts_at)
SELECT e.code, ((now() AT TIME ZONE e.time_zone)::date + n * 7 + 14 + time '21:00') AT TIME ZONE e.time_zone
FROM sample_host.events e, generate_series(1, 3) n
WHERE NOT EXISTS (
    SELECT FROM sample_host.event_dates d
    WHERE d.event_code = e.code AND d.state = 'scheduled' AND d.starts_at > now()
)
ORDER BY e.code, n;
