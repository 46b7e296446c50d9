-- Which documents have lines that come from a session: a session is reverted without reading all versions of the agent.
-- version: the newest that names the session. reverted_version: the session was reverted in the document up to this
-- version; 0 if it was not.
CREATE TABLE memory_origins (
    tenant_id uuid NOT NULL,
    agent text NOT NULL,
    session_id uuid NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    reverted_version bigint NOT NULL,
    CONSTRAINT memory_origins_pk PRIMARY KEY (tenant_id, agent, session_id, document_id),
    CONSTRAINT memory_origins_document_fk FOREIGN KEY (tenant_id, document_id) REFERENCES memory_documents (tenant_id, id)
);
CREATE INDEX memory_origins_by_document ON memory_origins (tenant_id, document_id);
GRANT SELECT, INSERT, UPDATE, DELETE ON memory_origins TO shiftbook_app;
ALTER TABLE memory_origins ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_origins FORCE ROW LEVEL SECURITY;
CREATE POLICY memory_origins_of_tenant ON memory_origins
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
CREATE POLICY memory_origins_of_no_respondent ON memory_origins AS RESTRICTIVE
    USING ((SELECT shiftbook_respondent()) IS NULL);

SELECT set_config('app.system', 'on', true);
INSERT INTO memory_origins (tenant_id, agent, session_id, document_id, version, reverted_version)
    SELECT v.tenant_id, v.agent, CAST(e.one ->> 'session' AS uuid), v.document_id, MAX(v.version), 0
    FROM memory_versions v, jsonb_array_elements(CAST(v.evidence AS jsonb)) AS e (one) GROUP BY 1, 2, 3, 4;
SELECT set_config('app.system', 'off', true);
