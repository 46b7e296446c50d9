-- Vectors of memory documents, by which a search finds texts of the same meaning.

-- version: that of the document whose passages these are; 0 if the text has changed since or is erased, and then vectors
-- is empty. change: counts the changes of an agent's rows, so that servers read only what is new. model: what made them.
-- vectors: in the form of the crate `embedding`, one after the other, in the order of the passages.
CREATE TABLE memory_vectors (
    tenant_id BLOB NOT NULL,
    document_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    version INTEGER NOT NULL,
    change INTEGER NOT NULL,
    vectors BLOB NOT NULL,
    CONSTRAINT memory_vectors_pk PRIMARY KEY (tenant_id, document_id),
    CONSTRAINT memory_vectors_document_fk FOREIGN KEY (tenant_id, document_id)
        REFERENCES memory_documents (tenant_id, id),
    CONSTRAINT memory_vectors_emptied CHECK (version > 0 OR length(vectors) = 0)
) STRICT;
CREATE UNIQUE INDEX memory_vectors_changes ON memory_vectors (tenant_id, agent, change);
