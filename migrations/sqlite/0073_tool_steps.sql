-- The tries of the steps of composite tools, each with the session that runs it.

-- session_id: the run of the composite tool. position: index of the step in its version. attempt: 1 for the first try.
-- state: waiting until not_before, started, completed, failed, or refused, which is a failure that is not tried again.
-- child_id: null while it waits, and for a step whose input is not valid. error_code: of a try that failed.
CREATE TABLE tool_steps (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    position INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    state TEXT NOT NULL,
    child_id BLOB,
    not_before INTEGER,
    error_code TEXT,
    CONSTRAINT tool_steps_pk PRIMARY KEY (tenant_id, session_id, position, attempt),
    CONSTRAINT tool_steps_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT tool_steps_child_fk FOREIGN KEY (tenant_id, child_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT tool_steps_state_known CHECK (state IN ('waiting', 'started', 'completed', 'failed', 'refused')),
    CONSTRAINT tool_steps_whole CHECK ((state = 'waiting') = (not_before IS NOT NULL) AND (state <> 'started' OR child_id IS NOT NULL))
) STRICT, WITHOUT ROWID;

-- Tries that begin after a pause, for the sweep.
CREATE INDEX tool_steps_waiting ON tool_steps (not_before) WHERE not_before IS NOT NULL;
