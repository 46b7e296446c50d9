-- Vectors of memory documents, by which a search finds texts of the same meaning.

-- version: that of the document whose passages these are; 0 if the text has changed since or is erased, and then vectors
-- is empty. change: counts the changes of an agent's rows, so that servers read only what is new. model: what made them.
-- vectors: in the form of the crate `embedding`, one after the other, in the order of the passages.
CREATE TABLE memory_vectors (
    tenant_id uuid NOT NULL,
    document_id uuid NOT NULL,
    agent text NOT NULL,
    model text NOT NULL,
    version bigint NOT NULL,
    change bigint NOT NULL,
    vectors bytea NOT NULL,
    CONSTRAINT memory_vectors_pk PRIMARY KEY (tenant_id, document_id),
    CONSTRAINT memory_vectors_document_fk FOREIGN KEY (tenant_id, document_id)
        REFERENCES memory_documents (tenant_id, id),
    CONSTRAINT memory_vectors_emptied CHECK (version > 0 OR length(vectors) = 0)
);
CREATE UNIQUE INDEX memory_vectors_changes ON memory_vectors (tenant_id, agent, change);

GRANT SELECT, INSERT, UPDATE, DELETE ON memory_vectors TO shiftbook_app;
ALTER TABLE memory_vectors ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_vectors FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY memory_vectors_of_tenant ON memory_vectors
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY memory_vectors_of_no_respondent ON memory_vectors AS RESTRICTIVE USING (shiftbook_respondent() IS NULL);
