-- Failed sessions that are run again at a pace: a few at a time, or from a time on.

-- state: open, done or cancelled. caller: who asked, user:… or token:…; sessions are started with the rights that they
-- have at that time. The key makes a request that is repeated one paced run.
CREATE TABLE paced_runs (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    caller TEXT NOT NULL,
    idempotency_key TEXT,
    at_a_time INTEGER NOT NULL,
    start_at INTEGER NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ended_at INTEGER,
    CONSTRAINT paced_runs_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT paced_runs_key_unique UNIQUE (tenant_id, idempotency_key),
    CONSTRAINT paced_runs_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT paced_runs_state_known CHECK (state IN ('open', 'done', 'cancelled')),
    CONSTRAINT paced_runs_ended CHECK ((state = 'open') = (ended_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX paced_runs_open ON paced_runs (tenant_id, id, start_at) WHERE state = 'open';

-- outcome: waiting, started, already, refused or cancelled. Sessions can be erased, so there is no reference to them.
CREATE TABLE paced_run_sessions (
    tenant_id BLOB NOT NULL,
    run_id BLOB NOT NULL,
    position INTEGER NOT NULL,
    session_id BLOB NOT NULL,
    outcome TEXT NOT NULL,
    new_session_id BLOB,
    reason TEXT,
    CONSTRAINT paced_run_sessions_pk PRIMARY KEY (tenant_id, run_id, position),
    CONSTRAINT paced_run_sessions_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES paced_runs (tenant_id, id),
    CONSTRAINT paced_run_sessions_outcome_known
        CHECK (outcome IN ('waiting', 'started', 'already', 'refused', 'cancelled'))
) STRICT, WITHOUT ROWID;
