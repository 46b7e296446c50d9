-- The key of the request that created an action, after its caller, and the digest of the request. A repeat, whose first
-- response was lost, gets the action that was created. NULL if the request had no key. On PostgreSQL, this migration
-- also narrows the row-level security of session_events; SQLite has none.
ALTER TABLE actions ADD COLUMN creation_key TEXT;
ALTER TABLE actions ADD COLUMN creation_digest BLOB;
CREATE UNIQUE INDEX actions_creation_key ON actions (tenant_id, creation_key) WHERE creation_key IS NOT NULL;
