-- The words of each memory document as rows. Row-level security keeps the planner from using an index for an operator
-- that is not marked leakproof, such as the match operator of tsvector; equality of uuid and text is marked so.
CREATE TABLE memory_words (
    tenant_id uuid NOT NULL,
    agent text COLLATE "C" NOT NULL,
    term text COLLATE "C" NOT NULL,
    document_id uuid NOT NULL,
    CONSTRAINT memory_words_pk PRIMARY KEY (tenant_id, agent, term, document_id)
);
DROP INDEX memory_search_terms;
DROP INDEX memory_search_by_agent;
GRANT SELECT, INSERT, DELETE ON memory_words TO shiftbook_app;
ALTER TABLE memory_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_words FORCE ROW LEVEL SECURITY;
CREATE POLICY memory_words_of_tenant ON memory_words
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));

-- What was indexed before. memory_search keeps the words of each document, from which they are taken away again.
SELECT set_config('app.system', 'on', true);
INSERT INTO memory_words (tenant_id, agent, term, document_id)
    SELECT m.tenant_id, m.agent, word.lexeme, m.document_id FROM memory_search m, unnest(m.terms) AS word;
SELECT set_config('app.system', 'off', true);
