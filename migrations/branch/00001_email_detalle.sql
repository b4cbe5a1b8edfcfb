-- One row for each member (socio) of a billing batch (lote). No foreign key to
-- the lote: lotes cross schemas.
CREATE TABLE {schema}.membresia_facturacion_email_detalle (
    id              SERIAL PRIMARY KEY,
    lote_id         INTEGER NOT NULL,
    socio_id        INTEGER NOT NULL,
    email           VARCHAR(255),
    estado          VARCHAR(20) NOT NULL DEFAULT 'pendiente'
                    CHECK (estado IN ('pendiente','enviado','error','omitido')),
    intentos        INTEGER NOT NULL DEFAULT 0,
    ultimo_intento  TIMESTAMPTZ,
    error_detalle   TEXT,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT NOW()
);
CREATE INDEX idx_email_detalle_lote_estado ON {schema}.membresia_facturacion_email_detalle(lote_id, estado);
CREATE UNIQUE INDEX idx_email_detalle_lote_socio ON {schema}.membresia_facturacion_email_detalle(lote_id, socio_id);
