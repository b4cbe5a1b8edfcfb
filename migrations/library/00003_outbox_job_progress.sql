-- How far a job has come, in its handler's words, kept by every attempt after
-- the one that wrote it. NULL is nothing yet. No row is rewritten.
ALTER TABLE {schema}.outbox_jobs ADD COLUMN progress jsonb;
ALTER TABLE {schema}.outbox_job_history ADD COLUMN progress jsonb;
