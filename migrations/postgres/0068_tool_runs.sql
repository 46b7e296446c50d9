-- Private values of the inputs of tool runs, from the run until its session ends. sealed: the values with their JSON
-- Pointers, encrypted with a key that is derived from the instance key.
CREATE TABLE tool_private_inputs (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT tool_private_inputs_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_private_inputs_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);

GRANT SELECT, INSERT, DELETE ON tool_private_inputs TO shiftbook_app;
ALTER TABLE tool_private_inputs ENABLE ROW LEVEL SECURITY;
ALTER TABLE tool_private_inputs FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY tool_private_inputs_of_tenant ON tool_private_inputs
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY tool_private_inputs_of_no_respondent ON tool_private_inputs AS RESTRICTIVE
    USING (shiftbook_respondent() IS NULL);

-- Runs that wait for a server.
CREATE INDEX sessions_http_runs ON sessions (tenant_id, agent_slug)
    WHERE status = 'pending' AND substr(agent_slug, 1, 5) = 'http:';
