-- The full-text index had a word for the agent in every document. A search read the list of that word from end to end for
-- each word of the query that few documents have. Now each word has the number of its agent in front.
CREATE TABLE memory_search_scopes (
    scope_id INTEGER PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    CONSTRAINT memory_search_scopes_agent_unique UNIQUE (tenant_id, agent)
) STRICT;
INSERT INTO memory_search_scopes (tenant_id, agent) SELECT tenant_id, agent FROM memory_agents;

ALTER TABLE memory_search RENAME TO memory_search_before;
CREATE VIRTUAL TABLE memory_search USING fts5 (terms, tokenize = 'unicode61 remove_diacritics 0');
INSERT INTO memory_search (memory_search, rank) VALUES ('secure-delete', 1);
INSERT INTO memory_search (rowid, terms)
    SELECT b.rowid, s.scope_id || 'x' || replace(b.terms, ' ', ' ' || s.scope_id || 'x')
    FROM memory_search_before b
    JOIN memory_search_rows r ON r.search_id = b.rowid
    JOIN memory_documents d ON d.tenant_id = r.tenant_id AND d.id = r.document_id
    JOIN memory_search_scopes s ON s.tenant_id = d.tenant_id AND s.agent = d.agent;
DROP TABLE memory_search_before;
