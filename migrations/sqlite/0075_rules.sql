-- Rules: an admin lets Shiftbook approve gates of an agent that people have approved many times.

-- state: active, suspended or deleted. subject_key: equal for rules about the same gates (domain::rule::Subject).
-- definition: JSON in the form of domain::rule, as the newest version has it. suspended_gate: the gate whose decision
-- suspended the rule.
CREATE TABLE rules (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    state TEXT NOT NULL,
    subject_key TEXT NOT NULL,
    definition TEXT NOT NULL,
    made_by BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    suspended_why TEXT,
    suspended_gate BLOB,
    CONSTRAINT rules_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT rules_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT rules_gate_fk FOREIGN KEY (tenant_id, suspended_gate) REFERENCES gates (tenant_id, id),
    CONSTRAINT rules_state_known CHECK (state IN ('active', 'suspended', 'deleted')),
    CONSTRAINT rules_suspended CHECK ((state = 'suspended') = (suspended_why IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX rules_by_subject ON rules (tenant_id, subject_key, state, id);

-- Decisions name the version that made them, so a version never changes.
CREATE TABLE rule_versions (
    tenant_id BLOB NOT NULL,
    rule_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    definition TEXT NOT NULL,
    made_by BLOB NOT NULL,
    made_at INTEGER NOT NULL,
    CONSTRAINT rule_versions_pk PRIMARY KEY (tenant_id, rule_id, version),
    CONSTRAINT rule_versions_rule_fk FOREIGN KEY (tenant_id, rule_id) REFERENCES rules (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER rule_versions_no_update BEFORE UPDATE ON rule_versions
BEGIN SELECT RAISE(ABORT, 'rule_versions is append-only'); END;
CREATE TRIGGER rule_versions_no_delete BEFORE DELETE ON rule_versions
BEGIN SELECT RAISE(ABORT, 'rule_versions is append-only'); END;

-- Which gates rules decided: a gate at most once, when it opens. amount: millionths of the value that the limit of a day
-- adds up.
CREATE TABLE rule_uses (
    tenant_id BLOB NOT NULL,
    gate_id BLOB NOT NULL,
    rule_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    at INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    CONSTRAINT rule_uses_pk PRIMARY KEY (tenant_id, gate_id),
    CONSTRAINT rule_uses_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT rule_uses_version_fk FOREIGN KEY (tenant_id, rule_id, version) REFERENCES rule_versions (tenant_id, rule_id, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_uses_by_rule ON rule_uses (tenant_id, rule_id, at, gate_id, amount);
CREATE TRIGGER rule_uses_no_update BEFORE UPDATE ON rule_uses
BEGIN SELECT RAISE(ABORT, 'rule_uses is append-only'); END;
CREATE TRIGGER rule_uses_no_delete BEFORE DELETE ON rule_uses
BEGIN SELECT RAISE(ABORT, 'rule_uses is append-only'); END;

-- A back-test reads the gates of one agent.
CREATE INDEX gates_by_agent ON gates (tenant_id, agent_slug, kind, opened_at, id);
