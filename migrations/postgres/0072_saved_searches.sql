-- Search lines that people saved under a name. shared: 1 for one that everyone in the workspace sees.
CREATE TABLE saved_searches (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    line text NOT NULL,
    shared bigint NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT saved_searches_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT saved_searches_name_unique UNIQUE (tenant_id, user_id, name),
    CONSTRAINT saved_searches_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX saved_searches_shared ON saved_searches (tenant_id) WHERE shared = 1;

GRANT SELECT, INSERT, DELETE ON saved_searches TO shiftbook_app;
ALTER TABLE saved_searches ENABLE ROW LEVEL SECURITY;
ALTER TABLE saved_searches FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY saved_searches_of_tenant ON saved_searches USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY saved_searches_of_no_respondent ON saved_searches AS RESTRICTIVE USING (shiftbook_respondent() IS NULL);
