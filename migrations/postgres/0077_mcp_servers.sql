-- MCP servers whose tools a workspace calls.

-- definition: JSON in the form of domain::mcp. sealed: the values of its secret headers, encrypted with a key that is
-- derived from the instance key. revision: 1 at first, one more with each change. listing: the tools that it listed last
-- as JSON in the form of domain::mcp; null before it was asked. tool_count: how many of them can be imported.
CREATE TABLE mcp_servers (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    slug text NOT NULL,
    definition text NOT NULL,
    sealed bytea,
    revision bigint NOT NULL,
    listing text,
    listed_at bigint,
    tool_count bigint,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT mcp_servers_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT mcp_servers_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT mcp_servers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT mcp_servers_listed CHECK ((listing IS NULL) = (listed_at IS NULL) AND (listing IS NULL) = (tool_count IS NULL))
);

-- Runs of tools of MCP servers that wait for a server.
CREATE INDEX sessions_mcp_runs ON sessions (tenant_id, agent_slug)
WHERE status = 'pending' AND substr(agent_slug, 1, 4) = 'mcp:';

GRANT SELECT, INSERT, UPDATE, DELETE ON mcp_servers TO shiftbook_app;
ALTER TABLE mcp_servers ENABLE ROW LEVEL SECURITY;
ALTER TABLE mcp_servers FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY mcp_servers_of_tenant ON mcp_servers USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY mcp_servers_of_no_respondent ON mcp_servers AS RESTRICTIVE USING (shiftbook_respondent() IS NULL);
