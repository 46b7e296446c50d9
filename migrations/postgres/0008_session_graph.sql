-- Sessions that wait for others: for those they depend on, or for those they started.

-- waits_for: what a draft or an idle session waits for. dependency_count: rows of session_dependencies it has, so that a
-- claim asks for them only where there are any. awaited: 1 once another session depends on it, so that only then its end
-- is noted.
ALTER TABLE sessions ADD COLUMN waits_for text
    CONSTRAINT sessions_waits_for_known CHECK (waits_for IS NULL OR waits_for IN ('dependencies', 'children'));
ALTER TABLE sessions ADD COLUMN dependency_count bigint NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN awaited bigint NOT NULL DEFAULT 0;

-- position: 0, 1, 2 … as they were named. if_fails: what becomes of the session when this one does not complete.
CREATE TABLE session_dependencies (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    position bigint NOT NULL,
    depends_on_id uuid NOT NULL,
    if_fails text NOT NULL,
    CONSTRAINT session_dependencies_pk PRIMARY KEY (tenant_id, session_id, position),
    CONSTRAINT session_dependencies_unique UNIQUE (tenant_id, session_id, depends_on_id),
    CONSTRAINT session_dependencies_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT session_dependencies_of_fk FOREIGN KEY (tenant_id, depends_on_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT session_dependencies_if_fails_known CHECK (if_fails IN ('abandon', 'run_anyway')),
    -- A session names what exists when it is made, and never more: there are no circles.
    CONSTRAINT session_dependencies_of_others CHECK (depends_on_id <> session_id)
);
CREATE INDEX session_dependencies_of ON session_dependencies (tenant_id, depends_on_id, session_id);
CREATE TRIGGER session_dependencies_kept BEFORE UPDATE OR DELETE ON session_dependencies
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER session_dependencies_no_truncate BEFORE TRUNCATE ON session_dependencies
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- A retry of a session depends on the newest retries of what that one depended on.
CREATE INDEX sessions_by_retry ON sessions (tenant_id, retry_of, id) WHERE retry_of IS NOT NULL;

-- Sessions that ended while others waited for them, until that has been followed up.
CREATE TABLE session_endings (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT session_endings_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT session_endings_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);
-- The sweep looks across workspaces, by id.
CREATE INDEX session_endings_by_session ON session_endings (session_id);
-- A queue: its rows live for moments.
ALTER TABLE session_endings SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

GRANT SELECT, INSERT ON session_dependencies TO shiftbook_app;
GRANT SELECT, INSERT, DELETE ON session_endings TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['session_dependencies', 'session_endings'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
