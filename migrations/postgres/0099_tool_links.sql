-- Links with which people without an account run one tool. Only the SHA-256 of a link's secret is kept.

-- uses: how often a browser opened the page with the secret. runs: how many runs were begun by the link.
CREATE TABLE tool_links (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    tool_id uuid NOT NULL,
    secret_digest bytea NOT NULL,
    hint text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    uses bigint NOT NULL,
    last_used_at bigint,
    runs bigint NOT NULL,
    CONSTRAINT tool_links_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT tool_links_secret_unique UNIQUE (secret_digest),
    CONSTRAINT tool_links_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
);
CREATE INDEX tool_links_by_id ON tool_links (id);
CREATE INDEX tool_links_by_tool ON tool_links (tenant_id, tool_id, id);

-- The runs that were begun by links.
CREATE TABLE tool_link_runs (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    link_id uuid NOT NULL,
    begun_at bigint NOT NULL,
    CONSTRAINT tool_link_runs_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_link_runs_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT tool_link_runs_link_fk FOREIGN KEY (tenant_id, link_id) REFERENCES tool_links (tenant_id, id)
);
CREATE INDEX tool_link_runs_by_link ON tool_link_runs (tenant_id, link_id, begun_at);

GRANT SELECT, INSERT, UPDATE ON tool_links TO shiftbook_app;
GRANT SELECT, INSERT ON tool_link_runs TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['tool_links', 'tool_link_runs'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING (shiftbook_respondent() IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;

-- Whoever runs a tool by a link reads the large result of their own run. Such a transaction names its respondent, who
-- is the creator of that session.
ALTER POLICY session_results_of_no_respondent ON session_results
    USING (shiftbook_respondent() IS NULL OR shiftbook_sees_session(tenant_id, session_id));
