-- How long a session may stand where it stands, and what became of those that ended badly.

-- time_limits: JSON object, the action's when the session was made. deadline_at: when the present status runs out.
ALTER TABLE sessions ADD COLUMN time_limits text;
ALTER TABLE sessions ADD COLUMN deadline_at bigint;
CREATE INDEX sessions_overdue ON sessions (deadline_at) WHERE deadline_at IS NOT NULL;

-- One row for each session that ended failed or expired. id is that of the event which ended it: a UUIDv7, so ids
-- sort by the time of the failure.
CREATE TABLE session_failures (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    action_id uuid,
    code text NOT NULL,
    message text NOT NULL,
    remediation text NOT NULL,
    at bigint NOT NULL,
    acknowledged_by text,
    acknowledged_at bigint,
    CONSTRAINT session_failures_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT session_failures_session_unique UNIQUE (tenant_id, session_id),
    CONSTRAINT session_failures_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);
CREATE INDEX session_failures_open ON session_failures (tenant_id, id) WHERE acknowledged_at IS NULL;
CREATE INDEX session_failures_acknowledged ON session_failures (tenant_id, id) WHERE acknowledged_at IS NOT NULL;
-- Only taking note of a failure changes its row, and once.
CREATE TRIGGER session_failures_kept BEFORE UPDATE ON session_failures FOR EACH ROW
    WHEN (OLD.acknowledged_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.id <> OLD.id OR NEW.session_id <> OLD.session_id
        OR NEW.code <> OLD.code OR NEW.message <> OLD.message OR NEW.remediation <> OLD.remediation OR NEW.at <> OLD.at)
    EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER session_failures_no_delete BEFORE DELETE ON session_failures
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER session_failures_no_truncate BEFORE TRUNCATE ON session_failures
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

GRANT SELECT, INSERT, UPDATE ON session_failures TO shiftbook_app;
ALTER TABLE session_failures ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_failures FORCE ROW LEVEL SECURITY;
CREATE POLICY session_failures_of_tenant ON session_failures
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
