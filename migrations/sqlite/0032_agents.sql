-- The channels that memory documents come from: those of the conversations that their versions name as their origin.
CREATE TABLE memory_channels (
    tenant_id BLOB NOT NULL,
    document_id BLOB NOT NULL,
    platform TEXT NOT NULL,
    channel TEXT NOT NULL,
    CONSTRAINT memory_channels_pk PRIMARY KEY (tenant_id, document_id, platform, channel),
    CONSTRAINT memory_channels_document_fk FOREIGN KEY (tenant_id, document_id) REFERENCES memory_documents (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- The sessions of one agent, newest first.
CREATE INDEX sessions_by_agent_newest ON sessions (tenant_id, agent_slug, id) WHERE agent_slug IS NOT NULL;

-- A card that a person has uploaded and not yet given to the agent: what is shown in the preview. The newest of each
-- person and agent, for an hour.
CREATE TABLE memory_card_drafts (
    tenant_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    author TEXT NOT NULL,
    media_type TEXT NOT NULL,
    original BLOB NOT NULL,
    digest BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT memory_card_drafts_pk PRIMARY KEY (tenant_id, agent, author),
    CONSTRAINT memory_card_drafts_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;
