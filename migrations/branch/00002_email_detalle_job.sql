-- Which job sends the entry, and whether what went wrong can pass by itself.
ALTER TABLE {schema}.membresia_facturacion_email_detalle
    ADD COLUMN job_id BIGINT,
    ADD COLUMN reintentable BOOLEAN;
