-- Causes of failures: failures that have the same code, tool, step and normalised message. Sessions that only their own
-- person can see have none.
CREATE TABLE failure_causes (
    tenant_id uuid NOT NULL,
    -- Derived from the rule, the code, the tool, the step and the message.
    id uuid NOT NULL,
    -- Version of the rule that grouped the failures.
    rule bigint NOT NULL,
    code text NOT NULL,
    tool text,
    step text,
    -- Without what differs between two of its failures.
    message text NOT NULL,
    -- What people decided last. Whether the cause came back since follows from its failures.
    state text NOT NULL DEFAULT 'open',
    snoozed_until bigint,
    decided_by text,
    decided_at bigint,
    CONSTRAINT failure_causes_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT failure_causes_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT failure_causes_state_known CHECK (state IN ('open', 'acknowledged', 'snoozed', 'resolved')),
    CONSTRAINT failure_causes_snoozed CHECK ((state = 'snoozed') = (snoozed_until IS NOT NULL)),
    CONSTRAINT failure_causes_decided CHECK ((decided_by IS NULL) = (decided_at IS NULL))
);

-- Which failure has which cause. A failure is recorded once and never changes; its cause does when the rule changes.
CREATE TABLE caused_failures (
    tenant_id uuid NOT NULL,
    failure_id uuid NOT NULL,
    session_id uuid NOT NULL,
    cause_id uuid NOT NULL,
    agent_slug text,
    at bigint NOT NULL,
    rule bigint NOT NULL,
    CONSTRAINT caused_failures_pk PRIMARY KEY (tenant_id, failure_id),
    CONSTRAINT caused_failures_session_unique UNIQUE (tenant_id, session_id),
    CONSTRAINT caused_failures_cause_fk FOREIGN KEY (tenant_id, cause_id) REFERENCES failure_causes (tenant_id, id)
);
CREATE INDEX caused_failures_by_cause ON caused_failures (tenant_id, cause_id, at, failure_id);
CREATE INDEX caused_failures_by_time ON caused_failures (tenant_id, at, cause_id);

-- How far the failures that an earlier rule grouped, or none, are grouped. One row.
CREATE TABLE failure_regroup (
    id bigint NOT NULL,
    rule bigint NOT NULL,
    tenant_id uuid,
    failure_id uuid,
    -- Failures that were there when it began, and those that it has looked at.
    failures bigint NOT NULL,
    looked_at bigint NOT NULL,
    is_done bigint NOT NULL,
    CONSTRAINT failure_regroup_pk PRIMARY KEY (id)
);
INSERT INTO failure_regroup (id, rule, failures, looked_at, is_done) VALUES (1, 0, 0, 0, 0);

-- When each person last looked at the causes of failures.
CREATE TABLE failure_visits (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    seen_at bigint NOT NULL,
    -- End of the visit before this one.
    previous_at bigint,
    CONSTRAINT failure_visits_pk PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT failure_visits_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT failure_visits_user_fk FOREIGN KEY (user_id) REFERENCES users (id)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON failure_causes, caused_failures TO shiftbook_app;
GRANT SELECT, INSERT, UPDATE ON failure_visits TO shiftbook_app;
GRANT SELECT, UPDATE ON failure_regroup TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['failure_causes', 'caused_failures', 'failure_visits'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
    END LOOP;
END $$;
-- A session that ends without an answer fails in the transaction of a person without an account, so the other two are
-- open to it, as the table of failures is.
CREATE POLICY failure_visits_of_no_respondent ON failure_visits AS RESTRICTIVE USING (shiftbook_respondent() IS NULL);
ALTER TABLE failure_regroup ENABLE ROW LEVEL SECURITY;
ALTER TABLE failure_regroup FORCE ROW LEVEL SECURITY;
CREATE POLICY failure_regroup_of_system ON failure_regroup USING (shiftbook_is_system());
