-- Links with which people without an account read one session. Only the SHA-256 of a link's secret is kept.

-- audience: tool_result or session. uses: how often a browser opened the page with the secret.
CREATE TABLE share_links (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    audience TEXT NOT NULL,
    secret_digest BLOB NOT NULL,
    hint TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    uses INTEGER NOT NULL,
    last_used_at INTEGER,
    CONSTRAINT share_links_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT share_links_secret_unique UNIQUE (secret_digest),
    CONSTRAINT share_links_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT share_links_audience_known CHECK (audience IN ('tool_result', 'session'))
) STRICT, WITHOUT ROWID;
CREATE INDEX share_links_by_id ON share_links (id);
CREATE INDEX share_links_by_session ON share_links (tenant_id, session_id, id);
CREATE INDEX share_links_by_maker ON share_links (tenant_id, created_by, id);
