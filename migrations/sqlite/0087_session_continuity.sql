-- How well agents went on from what was known, as a model scored it after the end of a session.

-- score: from -1 to 1; NULL if the model gave none. model: name of the model. No row has a text.
CREATE TABLE session_continuity (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    score REAL,
    model TEXT NOT NULL,
    scored_at INTEGER NOT NULL,
    CONSTRAINT session_continuity_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT session_continuity_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT session_continuity_range CHECK (score IS NULL OR (score >= -1.0 AND score <= 1.0))
) STRICT;
-- The sessions that were scored on one day are counted.
CREATE INDEX session_continuity_by_agent ON session_continuity (tenant_id, agent, scored_at);
