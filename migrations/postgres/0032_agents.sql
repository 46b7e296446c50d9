-- The channels that memory documents come from: those of the conversations that their versions name as their origin.
CREATE TABLE memory_channels (
    tenant_id uuid NOT NULL,
    document_id uuid NOT NULL,
    platform text NOT NULL,
    channel text NOT NULL,
    CONSTRAINT memory_channels_pk PRIMARY KEY (tenant_id, document_id, platform, channel),
    CONSTRAINT memory_channels_document_fk FOREIGN KEY (tenant_id, document_id) REFERENCES memory_documents (tenant_id, id)
);
GRANT SELECT, INSERT, DELETE ON memory_channels TO shiftbook_app;
ALTER TABLE memory_channels ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_channels FORCE ROW LEVEL SECURITY;
CREATE POLICY memory_channels_of_tenant ON memory_channels
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));

-- The sessions of one agent, newest first.
CREATE INDEX sessions_by_agent_newest ON sessions (tenant_id, agent_slug, id) WHERE agent_slug IS NOT NULL;

-- A card that a person has uploaded and not yet given to the agent: what is shown in the preview. The newest of each
-- person and agent, for an hour.
CREATE TABLE memory_card_drafts (
    tenant_id uuid NOT NULL,
    agent text NOT NULL,
    author text NOT NULL,
    media_type text NOT NULL,
    original bytea NOT NULL,
    digest bytea NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT memory_card_drafts_pk PRIMARY KEY (tenant_id, agent, author),
    CONSTRAINT memory_card_drafts_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON memory_card_drafts TO shiftbook_app;
ALTER TABLE memory_card_drafts ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_card_drafts FORCE ROW LEVEL SECURITY;
CREATE POLICY memory_card_drafts_of_tenant ON memory_card_drafts
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
