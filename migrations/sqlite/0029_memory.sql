-- What agents remember: Markdown documents of which every version is kept.

-- One row for each agent that has a memory: its totals. Locked by every write, so writes of one agent are in order.
CREATE TABLE memory_agents (
    tenant_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    documents INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT memory_agents_pk PRIMARY KEY (tenant_id, agent),
    CONSTRAINT memory_agents_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;

-- path_folded: the path without differences of case. version: the newest. A deleted document keeps its row and versions.
CREATE TABLE memory_documents (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    agent TEXT NOT NULL,
    path TEXT NOT NULL,
    path_folded TEXT NOT NULL,
    version INTEGER NOT NULL,
    digest BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    is_deleted INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT memory_documents_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT memory_documents_agent_fk FOREIGN KEY (tenant_id, agent) REFERENCES memory_agents (tenant_id, agent)
) STRICT;
CREATE UNIQUE INDEX memory_documents_path_unique ON memory_documents (tenant_id, agent, path_folded) WHERE is_deleted = 0;
CREATE INDEX memory_documents_by_path ON memory_documents (tenant_id, agent, path_folded, id);

-- front_matter: null without one. digest: of the whole text, kept when the text is erased. evidence: JSON array of
-- {line, session, sequence}. id: UUIDv7, so the audit list of an agent is in the order of time.
CREATE TABLE memory_versions (
    tenant_id BLOB NOT NULL,
    document_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    id BLOB NOT NULL,
    agent TEXT NOT NULL,
    path TEXT NOT NULL,
    operation TEXT NOT NULL,
    front_matter TEXT,
    body TEXT NOT NULL,
    digest BLOB NOT NULL,
    source TEXT NOT NULL,
    author TEXT NOT NULL,
    reason TEXT NOT NULL,
    evidence TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    erased_at INTEGER,
    CONSTRAINT memory_versions_pk PRIMARY KEY (tenant_id, document_id, version),
    CONSTRAINT memory_versions_document_fk FOREIGN KEY (tenant_id, document_id) REFERENCES memory_documents (tenant_id, id),
    CONSTRAINT memory_versions_operation_known CHECK (operation IN ('created', 'modified', 'renamed', 'deleted', 'erased')),
    CONSTRAINT memory_versions_source_known CHECK (source IN ('memory_writer', 'person', 'agent', 'import', 'erasure', 'card'))
) STRICT;
CREATE UNIQUE INDEX memory_versions_audit ON memory_versions (tenant_id, agent, id);

-- A version changes in one way: its text goes, and the path that names a person.
CREATE TRIGGER memory_versions_no_update BEFORE UPDATE ON memory_versions
WHEN OLD.erased_at IS NOT NULL OR NEW.erased_at IS NULL
    OR NEW.front_matter IS NOT NULL OR NEW.body <> '' OR NEW.reason <> '' OR NEW.evidence <> '[]'
    OR NEW.tenant_id <> OLD.tenant_id OR NEW.document_id <> OLD.document_id OR NEW.version <> OLD.version OR NEW.id <> OLD.id
    OR NEW.agent <> OLD.agent OR NEW.operation <> OLD.operation OR NEW.digest <> OLD.digest OR NEW.source <> OLD.source
    OR NEW.author <> OLD.author OR NEW.created_at <> OLD.created_at
BEGIN SELECT RAISE(ABORT, 'memory_versions is append-only'); END;
CREATE TRIGGER memory_versions_no_delete BEFORE DELETE ON memory_versions
BEGIN SELECT RAISE(ABORT, 'memory_versions is append-only'); END;

-- The rowid of a document in the full-text index.
CREATE TABLE memory_search_rows (
    search_id INTEGER PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    document_id BLOB NOT NULL,
    CONSTRAINT memory_search_rows_document_unique UNIQUE (tenant_id, document_id)
) STRICT;
-- The words of each document that is not deleted, as domain::memory::terms returns them. scope: one word for the
-- workspace and one for the agent, so that a search reads the entries of its own workspace only.
CREATE VIRTUAL TABLE memory_search USING fts5 (scope, terms, tokenize = 'unicode61 remove_diacritics 0');
-- What is deleted leaves the index at once, not when its segments are merged.
INSERT INTO memory_search (memory_search, rank) VALUES ('secure-delete', 1);
-- The scope filters and does not rank.
INSERT INTO memory_search (memory_search, rank) VALUES ('rank', 'bm25(0.0, 1.0)');

-- Character cards as they were uploaded. The newest is in use.
CREATE TABLE memory_cards (
    tenant_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    id BLOB NOT NULL,
    media_type TEXT NOT NULL,
    original BLOB NOT NULL,
    digest BLOB NOT NULL,
    name TEXT NOT NULL,
    author TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT memory_cards_pk PRIMARY KEY (tenant_id, agent, id),
    CONSTRAINT memory_cards_agent_fk FOREIGN KEY (tenant_id, agent) REFERENCES memory_agents (tenant_id, agent)
) STRICT;
CREATE TRIGGER memory_cards_no_update BEFORE UPDATE ON memory_cards
BEGIN SELECT RAISE(ABORT, 'memory_cards is append-only'); END;
CREATE TRIGGER memory_cards_no_delete BEFORE DELETE ON memory_cards
BEGIN SELECT RAISE(ABORT, 'memory_cards is append-only'); END;
