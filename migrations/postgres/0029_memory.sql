-- What agents remember: Markdown documents of which every version is kept.

-- One row for each agent that has a memory: its totals. Locked by every write, so writes of one agent are in order.
CREATE TABLE memory_agents (
    tenant_id uuid NOT NULL,
    agent text NOT NULL,
    documents bigint NOT NULL,
    bytes bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT memory_agents_pk PRIMARY KEY (tenant_id, agent),
    CONSTRAINT memory_agents_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

-- path_folded: the path without differences of case. version: the newest. A deleted document keeps its row and versions.
CREATE TABLE memory_documents (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    agent text NOT NULL,
    path text NOT NULL,
    path_folded text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    digest bytea NOT NULL,
    bytes bigint NOT NULL,
    is_deleted bigint NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT memory_documents_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT memory_documents_agent_fk FOREIGN KEY (tenant_id, agent) REFERENCES memory_agents (tenant_id, agent)
);
CREATE UNIQUE INDEX memory_documents_path_unique ON memory_documents (tenant_id, agent, path_folded) WHERE is_deleted = 0;
CREATE INDEX memory_documents_by_path ON memory_documents (tenant_id, agent, path_folded, id);

-- front_matter: null without one. digest: of the whole text, kept when the text is erased. evidence: JSON array of
-- {line, session, sequence}. id: UUIDv7, so the audit list of an agent is in the order of time.
CREATE TABLE memory_versions (
    tenant_id uuid NOT NULL,
    document_id uuid NOT NULL,
    version bigint NOT NULL,
    id uuid NOT NULL,
    agent text NOT NULL,
    path text NOT NULL,
    operation text NOT NULL,
    front_matter text,
    body text NOT NULL,
    digest bytea NOT NULL,
    source text NOT NULL,
    author text NOT NULL,
    reason text NOT NULL,
    evidence text NOT NULL,
    created_at bigint NOT NULL,
    erased_at bigint,
    CONSTRAINT memory_versions_pk PRIMARY KEY (tenant_id, document_id, version),
    CONSTRAINT memory_versions_document_fk FOREIGN KEY (tenant_id, document_id) REFERENCES memory_documents (tenant_id, id),
    CONSTRAINT memory_versions_operation_known CHECK (operation IN ('created', 'modified', 'renamed', 'deleted', 'erased')),
    CONSTRAINT memory_versions_source_known CHECK (source IN ('memory_writer', 'person', 'agent', 'import', 'erasure', 'card'))
);
CREATE UNIQUE INDEX memory_versions_audit ON memory_versions (tenant_id, agent, id);

-- A version changes in one way: its text goes, and the path that names a person. The server's role may not even try.
CREATE FUNCTION shiftbook_memory_version_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL
        AND NEW.front_matter IS NULL AND NEW.body = '' AND NEW.reason = '' AND NEW.evidence = '[]'
        AND to_jsonb(NEW) - ARRAY['front_matter', 'body', 'reason', 'evidence', 'path', 'erased_at']
          = to_jsonb(OLD) - ARRAY['front_matter', 'body', 'reason', 'evidence', 'path', 'erased_at']
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER memory_versions_no_update BEFORE UPDATE ON memory_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_memory_version_stays();
CREATE TRIGGER memory_versions_no_delete BEFORE DELETE ON memory_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER memory_versions_no_truncate BEFORE TRUNCATE ON memory_versions
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- The words of each document that is not deleted, as domain::memory::terms returns them.
CREATE TABLE memory_search (
    tenant_id uuid NOT NULL,
    document_id uuid NOT NULL,
    agent text NOT NULL,
    terms tsvector,
    CONSTRAINT memory_search_pk PRIMARY KEY (tenant_id, document_id)
);
CREATE INDEX memory_search_by_agent ON memory_search (tenant_id, agent);
CREATE INDEX memory_search_terms ON memory_search USING gin (terms);

-- Character cards as they were uploaded. The newest is in use.
CREATE TABLE memory_cards (
    tenant_id uuid NOT NULL,
    agent text NOT NULL,
    id uuid NOT NULL,
    media_type text NOT NULL,
    original bytea NOT NULL,
    digest bytea NOT NULL,
    name text NOT NULL,
    author text NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT memory_cards_pk PRIMARY KEY (tenant_id, agent, id),
    CONSTRAINT memory_cards_agent_fk FOREIGN KEY (tenant_id, agent) REFERENCES memory_agents (tenant_id, agent)
);
CREATE TRIGGER memory_cards_no_update BEFORE UPDATE OR DELETE ON memory_cards
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER memory_cards_no_truncate BEFORE TRUNCATE ON memory_cards
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

GRANT SELECT, INSERT, UPDATE ON memory_agents, memory_documents TO shiftbook_app;
GRANT SELECT, INSERT ON memory_versions, memory_cards TO shiftbook_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON memory_search TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['memory_agents', 'memory_documents', 'memory_versions', 'memory_search', 'memory_cards'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
