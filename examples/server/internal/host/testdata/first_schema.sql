-- The sample host's own tables, beside the library's schema. Each statement can
-- be repeated: the file runs at every start.
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

CREATE TABLE IF NOT EXISTS sample_host.users (
    id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_code text        NOT NULL REFERENCES sample_host.tenants,
    name        text        NOT NULL,
    email       text        NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);

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
