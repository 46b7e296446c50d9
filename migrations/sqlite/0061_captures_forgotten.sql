-- Sessions of which no training data is kept: a person who wrote in one is forgotten, or it was asked for this session.
-- What was captured is deleted in the transaction that adds the row, and nothing of the session is captured after it.
CREATE TABLE captures_forgotten (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    forgotten_at INTEGER NOT NULL,
    CONSTRAINT captures_forgotten_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT captures_forgotten_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- Lines go only while an erasure of their session is under way, or when their session is forgotten.
DROP TRIGGER interactions_no_delete;
CREATE TRIGGER interactions_no_delete BEFORE DELETE ON interactions
WHEN NOT EXISTS (SELECT 1 FROM erasures e
    WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.finished_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM captures_forgotten f
    WHERE f.tenant_id = OLD.tenant_id AND f.session_id = OLD.session_id)
BEGIN SELECT RAISE(ABORT, 'interactions is append-only'); END;
DROP TRIGGER interaction_feedback_no_delete;
CREATE TRIGGER interaction_feedback_no_delete BEFORE DELETE ON interaction_feedback
WHEN NOT EXISTS (SELECT 1 FROM erasures e
    WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.finished_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM captures_forgotten f
    WHERE f.tenant_id = OLD.tenant_id AND f.session_id = OLD.session_id)
BEGIN SELECT RAISE(ABORT, 'interaction_feedback is append-only'); END;
DROP TRIGGER interaction_outcomes_no_delete;
CREATE TRIGGER interaction_outcomes_no_delete BEFORE DELETE ON interaction_outcomes
WHEN NOT EXISTS (SELECT 1 FROM erasures e
    WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.finished_at IS NULL)
    AND NOT EXISTS (SELECT 1 FROM captures_forgotten f
    WHERE f.tenant_id = OLD.tenant_id AND f.session_id = OLD.session_id)
BEGIN SELECT RAISE(ABORT, 'interaction_outcomes is append-only'); END;
