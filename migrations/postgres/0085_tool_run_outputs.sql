-- What becomes of the result of a run of a tool: a task writes it to an entity when the run completes. fields: JSON, a
-- JSON Pointer into the result for each field. requested_by: with whose rights it is written. written_session_id: the
-- session of the task. refused: why it was not written.
CREATE TABLE tool_run_outputs (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    action_id uuid NOT NULL,
    entity_id uuid,
    fields text NOT NULL,
    requested_by text NOT NULL,
    written_session_id uuid,
    refused text,
    CONSTRAINT tool_run_outputs_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_run_outputs_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON tool_run_outputs TO shiftbook_app;
ALTER TABLE tool_run_outputs ENABLE ROW LEVEL SECURITY;
ALTER TABLE tool_run_outputs FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY tool_run_outputs_of_tenant ON tool_run_outputs
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY tool_run_outputs_of_no_respondent ON tool_run_outputs AS RESTRICTIVE
    USING (shiftbook_respondent() IS NULL);
