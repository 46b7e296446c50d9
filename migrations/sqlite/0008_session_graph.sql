-- Sessions that wait for others: for those they depend on, or for those they started.

-- waits_for: what a draft or an idle session waits for. dependency_count: rows of session_dependencies it has, so that a
-- claim asks for them only where there are any. awaited: 1 once another session depends on it, so that only then its end
-- is noted.
ALTER TABLE sessions ADD COLUMN waits_for TEXT
    CONSTRAINT sessions_waits_for_known CHECK (waits_for IS NULL OR waits_for IN ('dependencies', 'children'));
ALTER TABLE sessions ADD COLUMN dependency_count INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN awaited INTEGER NOT NULL DEFAULT 0;

-- position: 0, 1, 2 … as they were named. if_fails: what becomes of the session when this one does not complete.
CREATE TABLE session_dependencies (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    position INTEGER NOT NULL,
    depends_on_id BLOB NOT NULL,
    if_fails TEXT NOT NULL,
    CONSTRAINT session_dependencies_pk PRIMARY KEY (tenant_id, session_id, position),
    CONSTRAINT session_dependencies_unique UNIQUE (tenant_id, session_id, depends_on_id),
    CONSTRAINT session_dependencies_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT session_dependencies_of_fk FOREIGN KEY (tenant_id, depends_on_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT session_dependencies_if_fails_known CHECK (if_fails IN ('abandon', 'run_anyway')),
    -- A session names what exists when it is made, and never more: there are no circles.
    CONSTRAINT session_dependencies_of_others CHECK (depends_on_id <> session_id)
) STRICT;
CREATE INDEX session_dependencies_of ON session_dependencies (tenant_id, depends_on_id, session_id);
CREATE TRIGGER session_dependencies_no_update BEFORE UPDATE ON session_dependencies
BEGIN SELECT RAISE(ABORT, 'dependencies are kept'); END;
CREATE TRIGGER session_dependencies_no_delete BEFORE DELETE ON session_dependencies
BEGIN SELECT RAISE(ABORT, 'dependencies are kept'); END;

-- A retry of a session depends on the newest retries of what that one depended on.
CREATE INDEX sessions_by_retry ON sessions (tenant_id, retry_of, id) WHERE retry_of IS NOT NULL;

-- Sessions that ended while others waited for them, until that has been followed up.
CREATE TABLE session_endings (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    at INTEGER NOT NULL,
    CONSTRAINT session_endings_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT session_endings_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT;
-- The sweep looks across workspaces, by id.
CREATE INDEX session_endings_by_session ON session_endings (session_id);
