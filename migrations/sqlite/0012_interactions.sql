-- Prompts and answers of agents, and what became of them.

-- Turns that ended and are not captured yet. Written in the transaction that ends the turn; removed when its record is kept.
-- due_at is also the lease: taking a row moves it on. status: that with which the turn ended.
CREATE TABLE captures_due (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    status TEXT NOT NULL,
    ended_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    CONSTRAINT captures_due_pk PRIMARY KEY (tenant_id, session_id, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX captures_due_by_time ON captures_due (due_at);

-- The three streams. record: the line, as it stands in the files of the data lake. Ids are made from what a line is about
-- and when, so that the same line twice is one row. They begin with the time, so their order is that of time.
CREATE TABLE interactions (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    recorded_at INTEGER NOT NULL,
    record TEXT NOT NULL,
    CONSTRAINT interactions_pk PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX interactions_by_session ON interactions (tenant_id, session_id, id);
CREATE TABLE interaction_feedback (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    interaction_id BLOB NOT NULL,
    recorded_at INTEGER NOT NULL,
    feedback TEXT NOT NULL,
    source TEXT NOT NULL,
    record TEXT NOT NULL,
    CONSTRAINT interaction_feedback_pk PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX interaction_feedback_by_session ON interaction_feedback (tenant_id, session_id);
CREATE INDEX interaction_feedback_latest ON interaction_feedback (tenant_id, interaction_id, recorded_at, id);
CREATE TABLE interaction_outcomes (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    interaction_id BLOB NOT NULL,
    recorded_at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    record TEXT NOT NULL,
    CONSTRAINT interaction_outcomes_pk PRIMARY KEY (tenant_id, id)
) STRICT;
CREATE INDEX interaction_outcomes_by_session ON interaction_outcomes (tenant_id, session_id);
CREATE INDEX interaction_outcomes_latest ON interaction_outcomes (tenant_id, interaction_id, recorded_at, id);

-- Only retention takes lines away, while an erasure of their session is under way.
CREATE TRIGGER interactions_no_update BEFORE UPDATE ON interactions
BEGIN SELECT RAISE(ABORT, 'interactions is append-only'); END;
CREATE TRIGGER interactions_no_delete BEFORE DELETE ON interactions
WHEN NOT EXISTS (SELECT 1 FROM erasures e
    WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.finished_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'interactions is append-only'); END;
CREATE TRIGGER interaction_feedback_no_update BEFORE UPDATE ON interaction_feedback
BEGIN SELECT RAISE(ABORT, 'interaction_feedback is append-only'); END;
CREATE TRIGGER interaction_feedback_no_delete BEFORE DELETE ON interaction_feedback
WHEN NOT EXISTS (SELECT 1 FROM erasures e
    WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.finished_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'interaction_feedback is append-only'); END;
CREATE TRIGGER interaction_outcomes_no_update BEFORE UPDATE ON interaction_outcomes
BEGIN SELECT RAISE(ABORT, 'interaction_outcomes is append-only'); END;
CREATE TRIGGER interaction_outcomes_no_delete BEFORE DELETE ON interaction_outcomes
WHEN NOT EXISTS (SELECT 1 FROM erasures e
    WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.finished_at IS NULL)
BEGIN SELECT RAISE(ABORT, 'interaction_outcomes is append-only'); END;
