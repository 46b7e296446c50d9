-- Tools: calls that people, programs and agents make by name. The row is the working copy; what was published is in
-- tool_versions.

-- definition: JSON in the form of domain::tool. state: draft, published or unpublished. version: the version published
-- last; null for a draft. revision: 1 at first, one more with each change of the working copy. published_revision: the
-- revision that `version` was made from.
CREATE TABLE tools (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    slug text NOT NULL,
    definition text NOT NULL,
    state text NOT NULL,
    version bigint,
    revision bigint NOT NULL,
    published_revision bigint,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT tools_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT tools_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT tools_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT tools_state_known CHECK (state IN ('draft', 'published', 'unpublished')),
    CONSTRAINT tools_whole CHECK ((state = 'draft') = (version IS NULL) AND (version IS NULL) = (published_revision IS NULL))
);

-- A run names its version, so a version never changes.
CREATE TABLE tool_versions (
    tenant_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    version bigint NOT NULL,
    definition text NOT NULL,
    published_by text NOT NULL,
    published_at bigint NOT NULL,
    CONSTRAINT tool_versions_pk PRIMARY KEY (tenant_id, tool_id, version),
    CONSTRAINT tool_versions_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
);
CREATE TRIGGER tool_versions_no_update BEFORE UPDATE OR DELETE ON tool_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER tool_versions_no_truncate BEFORE TRUNCATE ON tool_versions
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- Secrets that calls of a tool need. sealed: the value, encrypted with a key that is derived from the instance key.
CREATE TABLE tool_secrets (
    tenant_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    name text NOT NULL,
    sealed bytea NOT NULL,
    set_by text NOT NULL,
    set_at bigint NOT NULL,
    CONSTRAINT tool_secrets_pk PRIMARY KEY (tenant_id, tool_id, name),
    CONSTRAINT tool_secrets_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
);

GRANT SELECT, INSERT ON tools, tool_versions, tool_secrets TO shiftbook_app;
GRANT UPDATE, DELETE ON tools, tool_secrets TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['tools', 'tool_versions', 'tool_secrets'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING (shiftbook_respondent() IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;
