-- Pauses that wait for a person's decision (gates), and the decisions.

-- task: the paused call, the staged output or the question, as JSON with its kind. policy: what of the action's
-- approval settings held when it opened, as JSON. criteria: the dimensions that judged it, as JSON. It never changes
-- what it shows; what changes is where it stands.
CREATE TABLE gates (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    action_id BLOB,
    entity_id BLOB,
    agent_slug TEXT,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    title TEXT NOT NULL,
    task TEXT NOT NULL,
    task_digest BLOB NOT NULL,
    similar_key TEXT NOT NULL,
    criteria TEXT,
    score REAL,
    flags TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    quorum INTEGER NOT NULL,
    self_approval INTEGER NOT NULL,
    requested_by TEXT NOT NULL,
    requester_id BLOB,
    opened_at INTEGER NOT NULL,
    -- Where it stands in an inbox: its deadline, or the end of time.
    order_at INTEGER NOT NULL,
    due_at INTEGER,
    remind_at INTEGER,
    reminded_at INTEGER,
    escalate_at INTEGER,
    escalate_to TEXT,
    escalated_at INTEGER,
    -- The next instant at which a sweep has something to do with it.
    wake_at INTEGER,
    held_until INTEGER,
    settled_at INTEGER,
    outcome TEXT,
    CONSTRAINT gates_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT gates_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT gates_kind_known CHECK (kind IN ('tool', 'output', 'fields', 'question')),
    CONSTRAINT gates_state_known CHECK (state IN ('open', 'held', 'settled', 'expired', 'withdrawn')),
    CONSTRAINT gates_outcome_known CHECK (outcome IS NULL OR outcome IN ('approve', 'edit', 'deny', 'respond'))
) STRICT;
-- A session waits at one gate at a time.
CREATE UNIQUE INDEX gates_one_waiting ON gates (tenant_id, session_id) WHERE state IN ('open', 'held');
CREATE INDEX gates_of_session ON gates (tenant_id, session_id, attempt);
CREATE INDEX gates_by_state ON gates (tenant_id, state, order_at, id);
CREATE INDEX gates_to_wake ON gates (wake_at) WHERE wake_at IS NOT NULL;
-- What was shown never changes, and what is closed stays closed.
CREATE TRIGGER gates_task_stays BEFORE UPDATE OF task, task_digest, kind, session_id ON gates
BEGIN SELECT RAISE(ABORT, 'what a gate shows does not change'); END;
CREATE TRIGGER gates_closed_stays BEFORE UPDATE OF state ON gates
WHEN OLD.state IN ('settled', 'expired', 'withdrawn') AND NEW.state <> OLD.state
BEGIN SELECT RAISE(ABORT, 'a closed gate stays closed'); END;
CREATE TRIGGER gates_no_delete BEFORE DELETE ON gates
BEGIN SELECT RAISE(ABORT, 'gates are kept'); END;

-- Who may decide: a person (user), a group, or anyone whose role allows it (reviewer_id all zero).
CREATE TABLE gate_reviewers (
    tenant_id BLOB NOT NULL,
    gate_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    reviewer_id BLOB NOT NULL,
    CONSTRAINT gate_reviewers_pk PRIMARY KEY (tenant_id, gate_id, kind, reviewer_id),
    CONSTRAINT gate_reviewers_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT gate_reviewers_kind_known CHECK (kind IN ('user', 'group', 'anyone'))
) STRICT, WITHOUT ROWID;

-- Decisions, numbered from 1 per gate. One without a verdict withdraws the one it names.
CREATE TABLE gate_decisions (
    tenant_id BLOB NOT NULL,
    gate_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    user_id BLOB,
    actor TEXT NOT NULL,
    verdict TEXT,
    undoes INTEGER,
    value TEXT,
    value_digest BLOB NOT NULL,
    note TEXT,
    at INTEGER NOT NULL,
    CONSTRAINT gate_decisions_pk PRIMARY KEY (tenant_id, gate_id, number),
    CONSTRAINT gate_decisions_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT gate_decisions_verdict_known CHECK (verdict IS NULL OR verdict IN ('approve', 'edit', 'deny', 'respond'))
) STRICT, WITHOUT ROWID;
CREATE TRIGGER gate_decisions_no_update BEFORE UPDATE ON gate_decisions
BEGIN SELECT RAISE(ABORT, 'gate_decisions is append-only'); END;
CREATE TRIGGER gate_decisions_no_delete BEFORE DELETE ON gate_decisions
BEGIN SELECT RAISE(ABORT, 'gate_decisions is append-only'); END;

-- A reviewer put it aside.
CREATE TABLE gate_snoozes (
    tenant_id BLOB NOT NULL,
    gate_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    until INTEGER NOT NULL,
    CONSTRAINT gate_snoozes_pk PRIMARY KEY (tenant_id, gate_id, user_id),
    CONSTRAINT gate_snoozes_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT gate_snoozes_membership_fk FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- For how long a decision's effect is held back, so that it can be undone.
ALTER TABLE tenants ADD COLUMN undo_seconds INTEGER NOT NULL DEFAULT 5 CHECK (undo_seconds BETWEEN 0 AND 60);
