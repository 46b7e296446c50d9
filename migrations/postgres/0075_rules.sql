-- Rules: an admin lets Shiftbook approve gates of an agent that people have approved many times.

-- state: active, suspended or deleted. subject_key: equal for rules about the same gates (domain::rule::Subject).
-- definition: JSON in the form of domain::rule, as the newest version has it. suspended_gate: the gate whose decision
-- suspended the rule.
CREATE TABLE rules (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    state text NOT NULL,
    subject_key text NOT NULL,
    definition text NOT NULL,
    made_by uuid NOT NULL,
    made_at bigint NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_by text NOT NULL,
    updated_at bigint NOT NULL,
    suspended_why text,
    suspended_gate uuid,
    CONSTRAINT rules_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT rules_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT rules_gate_fk FOREIGN KEY (tenant_id, suspended_gate) REFERENCES gates (tenant_id, id),
    CONSTRAINT rules_state_known CHECK (state IN ('active', 'suspended', 'deleted')),
    CONSTRAINT rules_suspended CHECK ((state = 'suspended') = (suspended_why IS NOT NULL))
);
CREATE INDEX rules_by_subject ON rules (tenant_id, subject_key, state, id);

-- Decisions name the version that made them, so a version never changes.
CREATE TABLE rule_versions (
    tenant_id uuid NOT NULL,
    rule_id uuid NOT NULL,
    version bigint NOT NULL,
    definition text NOT NULL,
    made_by uuid NOT NULL,
    made_at bigint NOT NULL,
    CONSTRAINT rule_versions_pk PRIMARY KEY (tenant_id, rule_id, version),
    CONSTRAINT rule_versions_rule_fk FOREIGN KEY (tenant_id, rule_id) REFERENCES rules (tenant_id, id)
);
CREATE TRIGGER rule_versions_no_update BEFORE UPDATE OR DELETE ON rule_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER rule_versions_no_truncate BEFORE TRUNCATE ON rule_versions
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- Which gates rules decided: a gate at most once, when it opens. amount: millionths of the value that the limit of a day
-- adds up.
CREATE TABLE rule_uses (
    tenant_id uuid NOT NULL,
    gate_id uuid NOT NULL,
    rule_id uuid NOT NULL,
    version bigint NOT NULL,
    at bigint NOT NULL,
    amount bigint NOT NULL,
    CONSTRAINT rule_uses_pk PRIMARY KEY (tenant_id, gate_id),
    CONSTRAINT rule_uses_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT rule_uses_version_fk FOREIGN KEY (tenant_id, rule_id, version) REFERENCES rule_versions (tenant_id, rule_id, version)
);
CREATE INDEX rule_uses_by_rule ON rule_uses (tenant_id, rule_id, at, gate_id, amount);
CREATE TRIGGER rule_uses_no_update BEFORE UPDATE OR DELETE ON rule_uses
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER rule_uses_no_truncate BEFORE TRUNCATE ON rule_uses
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- A back-test reads the gates of one agent.
CREATE INDEX gates_by_agent ON gates (tenant_id, agent_slug, kind, opened_at, id);

GRANT SELECT, INSERT ON rules, rule_versions, rule_uses TO shiftbook_app;
GRANT UPDATE ON rules TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['rules', 'rule_versions', 'rule_uses'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING (shiftbook_respondent() IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;
