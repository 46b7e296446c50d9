-- MCP servers whose tools a workspace calls.

-- definition: JSON in the form of domain::mcp. sealed: the values of its secret headers, encrypted with a key that is
-- derived from the instance key. revision: 1 at first, one more with each change. listing: the tools that it listed last
-- as JSON in the form of domain::mcp; null before it was asked. tool_count: how many of them can be imported.
CREATE TABLE mcp_servers (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    definition TEXT NOT NULL,
    sealed BLOB,
    revision INTEGER NOT NULL,
    listing TEXT,
    listed_at INTEGER,
    tool_count INTEGER,
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT mcp_servers_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT mcp_servers_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT mcp_servers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT mcp_servers_listed CHECK ((listing IS NULL) = (listed_at IS NULL) AND (listing IS NULL) = (tool_count IS NULL))
) STRICT;

-- Runs of tools of MCP servers that wait for a server.
CREATE INDEX sessions_mcp_runs ON sessions (tenant_id, agent_slug)
WHERE status = 'pending' AND substr(agent_slug, 1, 4) = 'mcp:';
