-- Which documents have lines that come from a session: a session is reverted without reading all versions of the agent.
-- version: the newest that names the session. reverted_version: the session was reverted in the document up to this
-- version; 0 if it was not.
CREATE TABLE memory_origins (
    tenant_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    session_id BLOB NOT NULL,
    document_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    reverted_version INTEGER NOT NULL,
    CONSTRAINT memory_origins_pk PRIMARY KEY (tenant_id, agent, session_id, document_id),
    CONSTRAINT memory_origins_document_fk FOREIGN KEY (tenant_id, document_id) REFERENCES memory_documents (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_origins_by_document ON memory_origins (tenant_id, document_id);

INSERT INTO memory_origins (tenant_id, agent, session_id, document_id, version, reverted_version)
    SELECT v.tenant_id, v.agent, unhex(replace(e.value ->> '$.session', '-', '')), v.document_id, MAX(v.version), 0
    FROM memory_versions v, json_each(v.evidence) e GROUP BY 1, 2, 3, 4;
