-- Versions of tools whose calls get the secrets of the tool. An operator can change where a tool calls; only an admin
-- lets the secrets be sent there. A row is added when an admin publishes the version, when an admin sets a secret while
-- it is the newest version, and when it makes the same call as the version before it that has a row.
CREATE TABLE tool_secret_versions (
    tenant_id BLOB NOT NULL,
    tool_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    allowed_by TEXT NOT NULL,
    allowed_at INTEGER NOT NULL,
    CONSTRAINT tool_secret_versions_pk PRIMARY KEY (tenant_id, tool_id, version),
    CONSTRAINT tool_secret_versions_version_fk FOREIGN KEY (tenant_id, tool_id, version)
        REFERENCES tool_versions (tenant_id, tool_id, version)
) STRICT, WITHOUT ROWID;

-- Calls of versions that were published before keep the secrets of their tools.
INSERT INTO tool_secret_versions (tenant_id, tool_id, version, allowed_by, allowed_at)
    SELECT v.tenant_id, v.tool_id, v.version, 'system', v.published_at FROM tool_versions v
    WHERE EXISTS (SELECT 1 FROM tool_secrets s WHERE s.tenant_id = v.tenant_id AND s.tool_id = v.tool_id);
