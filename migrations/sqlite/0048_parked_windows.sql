-- A run that fails leaves its sessions apart: each is tried again in a run of its own, and parked after too many
-- failures, while the agent's other sessions are summarised. is_alone: the next run of the session reads no other one.
-- A parked session is not tried before a person asks for it. failed_runs: failed runs in a row, of whatever sessions.
ALTER TABLE memory_watermarks ADD COLUMN is_alone INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_watermarks ADD COLUMN failures INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memory_watermarks ADD COLUMN retry_at INTEGER;
ALTER TABLE memory_watermarks ADD COLUMN parked_at INTEGER;
CREATE INDEX memory_watermarks_alone ON memory_watermarks (tenant_id, is_alone, agent, failures, retry_at, parked_at)
    WHERE is_alone = 1;
ALTER TABLE memory_writers ADD COLUMN failed_runs INTEGER NOT NULL DEFAULT 0;
