-- Which workers are connected: when each was last seen, by the agents whose sessions it takes.
CREATE TABLE workers (
    tenant_id uuid NOT NULL,
    -- What the worker calls itself, else the caller.
    name text NOT NULL,
    -- Slug of the agent; empty for a worker that takes sessions of any agent.
    agent text NOT NULL,
    seen_at bigint NOT NULL,
    CONSTRAINT workers_pk PRIMARY KEY (tenant_id, name, agent),
    CONSTRAINT workers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON workers TO shiftbook_app;
ALTER TABLE workers ENABLE ROW LEVEL SECURITY;
ALTER TABLE workers FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY workers_of_tenant ON workers USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY workers_of_no_respondent ON workers AS RESTRICTIVE USING (shiftbook_respondent() IS NULL);
