-- Whose messages wait, and for whom: looked up by workspace and by receiver, so that nobody's backlog is read through
-- on the way to everybody else's.
CREATE INDEX outbox_waiting ON outbox (tenant_id, target_id, due_at) WHERE delivered_at IS NULL AND dead_at IS NULL;
CREATE INDEX outbox_waiting_due ON outbox (tenant_id, due_at) WHERE delivered_at IS NULL AND dead_at IS NULL;
