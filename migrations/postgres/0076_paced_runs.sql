-- Failed sessions that are run again at a pace: a few at a time, or from a time on.

-- state: open, done or cancelled. caller: who asked, user:… or token:…; sessions are started with the rights that they
-- have at that time. The key makes a request that is repeated one paced run.
CREATE TABLE paced_runs (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    caller text NOT NULL,
    idempotency_key text,
    at_a_time bigint NOT NULL,
    start_at bigint NOT NULL,
    state text NOT NULL,
    created_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT paced_runs_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT paced_runs_key_unique UNIQUE (tenant_id, idempotency_key),
    CONSTRAINT paced_runs_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT paced_runs_state_known CHECK (state IN ('open', 'done', 'cancelled')),
    CONSTRAINT paced_runs_ended CHECK ((state = 'open') = (ended_at IS NULL))
);
CREATE INDEX paced_runs_open ON paced_runs (tenant_id, id, start_at) WHERE state = 'open';

-- outcome: waiting, started, already, refused or cancelled. Sessions can be erased, so there is no reference to them.
CREATE TABLE paced_run_sessions (
    tenant_id uuid NOT NULL,
    run_id uuid NOT NULL,
    position bigint NOT NULL,
    session_id uuid NOT NULL,
    outcome text NOT NULL,
    new_session_id uuid,
    reason text,
    CONSTRAINT paced_run_sessions_pk PRIMARY KEY (tenant_id, run_id, position),
    CONSTRAINT paced_run_sessions_run_fk FOREIGN KEY (tenant_id, run_id) REFERENCES paced_runs (tenant_id, id),
    CONSTRAINT paced_run_sessions_outcome_known
        CHECK (outcome IN ('waiting', 'started', 'already', 'refused', 'cancelled'))
);

GRANT SELECT, INSERT, UPDATE, DELETE ON paced_runs, paced_run_sessions TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['paced_runs', 'paced_run_sessions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING (shiftbook_respondent() IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;
