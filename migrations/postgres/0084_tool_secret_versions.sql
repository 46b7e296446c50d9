-- Versions of tools whose calls get the secrets of the tool. An operator can change where a tool calls; only an admin
-- lets the secrets be sent there. A row is added when an admin publishes the version, when an admin sets a secret while
-- it is the newest version, and when it makes the same call as the version before it that has a row.
CREATE TABLE tool_secret_versions (
    tenant_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    version bigint NOT NULL,
    allowed_by text NOT NULL,
    allowed_at bigint NOT NULL,
    CONSTRAINT tool_secret_versions_pk PRIMARY KEY (tenant_id, tool_id, version),
    CONSTRAINT tool_secret_versions_version_fk FOREIGN KEY (tenant_id, tool_id, version)
        REFERENCES tool_versions (tenant_id, tool_id, version)
);

-- Calls of versions that were published before keep the secrets of their tools. The owner of the tables sees rows of
-- all workspaces only like this.
SELECT set_config('app.system', 'on', true);
INSERT INTO tool_secret_versions (tenant_id, tool_id, version, allowed_by, allowed_at)
    SELECT v.tenant_id, v.tool_id, v.version, 'system', v.published_at FROM tool_versions v
    WHERE EXISTS (SELECT 1 FROM tool_secrets s WHERE s.tenant_id = v.tenant_id AND s.tool_id = v.tool_id);
SELECT set_config('app.system', 'off', true);

GRANT SELECT, INSERT ON tool_secret_versions TO shiftbook_app;
ALTER TABLE tool_secret_versions ENABLE ROW LEVEL SECURITY;
ALTER TABLE tool_secret_versions FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY tool_secret_versions_of_tenant ON tool_secret_versions
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY tool_secret_versions_of_no_respondent ON tool_secret_versions AS RESTRICTIVE
    USING (shiftbook_respondent() IS NULL);
