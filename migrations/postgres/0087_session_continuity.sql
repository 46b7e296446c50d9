-- How well agents went on from what was known, as a model scored it after the end of a session.

-- score: from -1 to 1; NULL if the model gave none. model: name of the model. No row has a text.
CREATE TABLE session_continuity (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    agent text NOT NULL,
    score double precision,
    model text NOT NULL,
    scored_at bigint NOT NULL,
    CONSTRAINT session_continuity_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT session_continuity_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT session_continuity_range CHECK (score IS NULL OR (score >= -1.0 AND score <= 1.0))
);
-- The sessions that were scored on one day are counted.
CREATE INDEX session_continuity_by_agent ON session_continuity (tenant_id, agent, scored_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON session_continuity TO shiftbook_app;
ALTER TABLE session_continuity ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_continuity FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY session_continuity_of_tenant ON session_continuity
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY session_continuity_of_no_respondent ON session_continuity AS RESTRICTIVE
    USING (shiftbook_respondent() IS NULL);
