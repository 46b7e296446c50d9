-- Links with which people without an account run one tool. Only the SHA-256 of a link's secret is kept.

-- uses: how often a browser opened the page with the secret. runs: how many runs were begun by the link.
CREATE TABLE tool_links (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    tool_id BLOB NOT NULL,
    secret_digest BLOB NOT NULL,
    hint TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    uses INTEGER NOT NULL,
    last_used_at INTEGER,
    runs INTEGER NOT NULL,
    CONSTRAINT tool_links_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT tool_links_secret_unique UNIQUE (secret_digest),
    CONSTRAINT tool_links_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_links_by_id ON tool_links (id);
CREATE INDEX tool_links_by_tool ON tool_links (tenant_id, tool_id, id);

-- The runs that were begun by links.
CREATE TABLE tool_link_runs (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    link_id BLOB NOT NULL,
    begun_at INTEGER NOT NULL,
    CONSTRAINT tool_link_runs_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_link_runs_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT tool_link_runs_link_fk FOREIGN KEY (tenant_id, link_id) REFERENCES tool_links (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_link_runs_by_link ON tool_link_runs (tenant_id, link_id, begun_at);
