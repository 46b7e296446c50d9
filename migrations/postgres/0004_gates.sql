-- Pauses that wait for a person's decision (gates), and the decisions.

-- task: the paused call, the staged output or the question, as JSON with its kind. policy: what of the action's
-- approval settings held when it opened, as JSON. criteria: the dimensions that judged it, as JSON. It never changes
-- what it shows; what changes is where it stands.
CREATE TABLE gates (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    action_id uuid,
    entity_id uuid,
    agent_slug text,
    kind text NOT NULL,
    state text NOT NULL,
    title text NOT NULL,
    task text NOT NULL,
    task_digest bytea NOT NULL,
    similar_key text NOT NULL,
    criteria text,
    score double precision,
    flags text NOT NULL,
    attempt bigint NOT NULL,
    quorum bigint NOT NULL,
    self_approval boolean NOT NULL,
    requested_by text NOT NULL,
    requester_id uuid,
    opened_at bigint NOT NULL,
    -- Where it stands in an inbox: its deadline, or the end of time.
    order_at bigint NOT NULL,
    due_at bigint,
    remind_at bigint,
    reminded_at bigint,
    escalate_at bigint,
    escalate_to text,
    escalated_at bigint,
    -- The next instant at which a sweep has something to do with it.
    wake_at bigint,
    held_until bigint,
    settled_at bigint,
    outcome text,
    CONSTRAINT gates_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT gates_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT gates_kind_known CHECK (kind IN ('tool', 'output', 'fields', 'question')),
    CONSTRAINT gates_state_known CHECK (state IN ('open', 'held', 'settled', 'expired', 'withdrawn')),
    CONSTRAINT gates_outcome_known CHECK (outcome IS NULL OR outcome IN ('approve', 'edit', 'deny', 'respond'))
);
-- A session waits at one gate at a time.
CREATE UNIQUE INDEX gates_one_waiting ON gates (tenant_id, session_id) WHERE state IN ('open', 'held');
CREATE INDEX gates_of_session ON gates (tenant_id, session_id, attempt);
CREATE INDEX gates_by_state ON gates (tenant_id, state, order_at, id);
CREATE INDEX gates_to_wake ON gates (wake_at) WHERE wake_at IS NOT NULL;
-- What was shown never changes, and what is closed stays closed.
CREATE FUNCTION shiftbook_gate_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'what a gate shows does not change, and a closed one stays closed' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER gates_task_stays BEFORE UPDATE OF task, task_digest, kind, session_id ON gates
    FOR EACH ROW EXECUTE FUNCTION shiftbook_gate_stays();
CREATE TRIGGER gates_closed_stays BEFORE UPDATE OF state ON gates FOR EACH ROW
    WHEN (OLD.state IN ('settled', 'expired', 'withdrawn') AND NEW.state <> OLD.state)
    EXECUTE FUNCTION shiftbook_gate_stays();
CREATE TRIGGER gates_no_delete BEFORE DELETE ON gates FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER gates_no_truncate BEFORE TRUNCATE ON gates FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- Who may decide: a person (user), a group, or anyone whose role allows it (reviewer_id all zero).
CREATE TABLE gate_reviewers (
    tenant_id uuid NOT NULL,
    gate_id uuid NOT NULL,
    kind text NOT NULL,
    reviewer_id uuid NOT NULL,
    CONSTRAINT gate_reviewers_pk PRIMARY KEY (tenant_id, gate_id, kind, reviewer_id),
    CONSTRAINT gate_reviewers_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT gate_reviewers_kind_known CHECK (kind IN ('user', 'group', 'anyone'))
);

-- Decisions, numbered from 1 per gate. One without a verdict withdraws the one it names.
CREATE TABLE gate_decisions (
    tenant_id uuid NOT NULL,
    gate_id uuid NOT NULL,
    number bigint NOT NULL,
    user_id uuid,
    actor text NOT NULL,
    verdict text,
    undoes bigint,
    value text,
    value_digest bytea NOT NULL,
    note text,
    at bigint NOT NULL,
    CONSTRAINT gate_decisions_pk PRIMARY KEY (tenant_id, gate_id, number),
    CONSTRAINT gate_decisions_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT gate_decisions_verdict_known CHECK (verdict IS NULL OR verdict IN ('approve', 'edit', 'deny', 'respond'))
);
CREATE TRIGGER gate_decisions_no_update BEFORE UPDATE OR DELETE ON gate_decisions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER gate_decisions_no_truncate BEFORE TRUNCATE ON gate_decisions
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- A reviewer put it aside.
CREATE TABLE gate_snoozes (
    tenant_id uuid NOT NULL,
    gate_id uuid NOT NULL,
    user_id uuid NOT NULL,
    until bigint NOT NULL,
    CONSTRAINT gate_snoozes_pk PRIMARY KEY (tenant_id, gate_id, user_id),
    CONSTRAINT gate_snoozes_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT gate_snoozes_membership_fk FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id) ON DELETE CASCADE
);

-- For how long a decision's effect is held back, so that it can be undone.
ALTER TABLE tenants ADD COLUMN undo_seconds bigint NOT NULL DEFAULT 5 CHECK (undo_seconds BETWEEN 0 AND 60);

GRANT SELECT, INSERT ON gates, gate_reviewers, gate_decisions, gate_snoozes TO shiftbook_app;
GRANT UPDATE ON gates, gate_snoozes TO shiftbook_app;
GRANT DELETE ON gate_snoozes TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['gates', 'gate_reviewers', 'gate_decisions', 'gate_snoozes'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
-- A decision is a person's own.
CREATE POLICY gate_decisions_by_the_person ON gate_decisions AS RESTRICTIVE FOR INSERT WITH CHECK (
    user_id IS NULL OR user_id = (SELECT shiftbook_user()) OR (SELECT shiftbook_is_system())
);
