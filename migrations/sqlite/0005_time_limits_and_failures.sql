-- How long a session may stand where it stands, and what became of those that ended badly.

-- time_limits: JSON object, the action's when the session was made. deadline_at: when the present status runs out.
ALTER TABLE sessions ADD COLUMN time_limits TEXT;
ALTER TABLE sessions ADD COLUMN deadline_at INTEGER;
CREATE INDEX sessions_overdue ON sessions (deadline_at) WHERE deadline_at IS NOT NULL;

-- One row for each session that ended failed or expired. id is that of the event which ended it: a UUIDv7, so ids
-- sort by the time of the failure.
CREATE TABLE session_failures (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    action_id BLOB,
    code TEXT NOT NULL,
    message TEXT NOT NULL,
    remediation TEXT NOT NULL,
    at INTEGER NOT NULL,
    acknowledged_by TEXT,
    acknowledged_at INTEGER,
    CONSTRAINT session_failures_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT session_failures_session_unique UNIQUE (tenant_id, session_id),
    CONSTRAINT session_failures_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT;
CREATE INDEX session_failures_open ON session_failures (tenant_id, id) WHERE acknowledged_at IS NULL;
CREATE INDEX session_failures_acknowledged ON session_failures (tenant_id, id) WHERE acknowledged_at IS NOT NULL;
-- Only taking note of a failure changes its row, and once.
CREATE TRIGGER session_failures_kept BEFORE UPDATE ON session_failures
WHEN OLD.acknowledged_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.id <> OLD.id OR NEW.session_id <> OLD.session_id
    OR NEW.code <> OLD.code OR NEW.message <> OLD.message OR NEW.remediation <> OLD.remediation OR NEW.at <> OLD.at
BEGIN SELECT RAISE(ABORT, 'a failure is recorded once'); END;
CREATE TRIGGER session_failures_no_delete BEFORE DELETE ON session_failures
BEGIN SELECT RAISE(ABORT, 'failures are kept'); END;
