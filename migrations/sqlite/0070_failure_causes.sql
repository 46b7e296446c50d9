-- Causes of failures: failures that have the same code, tool, step and normalised message. Sessions that only their own
-- person can see have none.
CREATE TABLE failure_causes (
    tenant_id BLOB NOT NULL,
    -- Derived from the rule, the code, the tool, the step and the message.
    id BLOB NOT NULL,
    -- Version of the rule that grouped the failures.
    rule INTEGER NOT NULL,
    code TEXT NOT NULL,
    tool TEXT,
    step TEXT,
    -- Without what differs between two of its failures.
    message TEXT NOT NULL,
    -- What people decided last. Whether the cause came back since follows from its failures.
    state TEXT NOT NULL DEFAULT 'open',
    snoozed_until INTEGER,
    decided_by TEXT,
    decided_at INTEGER,
    CONSTRAINT failure_causes_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT failure_causes_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT failure_causes_state_known CHECK (state IN ('open', 'acknowledged', 'snoozed', 'resolved')),
    CONSTRAINT failure_causes_snoozed CHECK ((state = 'snoozed') = (snoozed_until IS NOT NULL)),
    CONSTRAINT failure_causes_decided CHECK ((decided_by IS NULL) = (decided_at IS NULL))
) STRICT, WITHOUT ROWID;

-- Which failure has which cause. A failure is recorded once and never changes; its cause does when the rule changes.
CREATE TABLE caused_failures (
    tenant_id BLOB NOT NULL,
    failure_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    cause_id BLOB NOT NULL,
    agent_slug TEXT,
    at INTEGER NOT NULL,
    rule INTEGER NOT NULL,
    CONSTRAINT caused_failures_pk PRIMARY KEY (tenant_id, failure_id),
    CONSTRAINT caused_failures_session_unique UNIQUE (tenant_id, session_id),
    CONSTRAINT caused_failures_cause_fk FOREIGN KEY (tenant_id, cause_id) REFERENCES failure_causes (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX caused_failures_by_cause ON caused_failures (tenant_id, cause_id, at, failure_id);
CREATE INDEX caused_failures_by_time ON caused_failures (tenant_id, at, cause_id);

-- How far the failures that an earlier rule grouped, or none, are grouped. One row.
CREATE TABLE failure_regroup (
    id INTEGER NOT NULL,
    rule INTEGER NOT NULL,
    tenant_id BLOB,
    failure_id BLOB,
    -- Failures that were there when it began, and those that it has looked at.
    failures INTEGER NOT NULL,
    looked_at INTEGER NOT NULL,
    is_done INTEGER NOT NULL,
    CONSTRAINT failure_regroup_pk PRIMARY KEY (id)
) STRICT;
INSERT INTO failure_regroup (id, rule, failures, looked_at, is_done) VALUES (1, 0, 0, 0, 0);

-- When each person last looked at the causes of failures.
CREATE TABLE failure_visits (
    tenant_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    seen_at INTEGER NOT NULL,
    -- End of the visit before this one.
    previous_at INTEGER,
    CONSTRAINT failure_visits_pk PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT failure_visits_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT failure_visits_user_fk FOREIGN KEY (user_id) REFERENCES users (id)
) STRICT, WITHOUT ROWID;
