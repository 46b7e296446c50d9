-- Drafts of tool runs: the fields of a form so far. The row is deleted when the run begins and when the session ends.
-- content: JSON in the form of domain::tool::draft, without private values. rev: number of saves.
CREATE TABLE tool_drafts (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    created_by text NOT NULL,
    rev bigint NOT NULL,
    content text NOT NULL,
    saved_at bigint NOT NULL,
    CONSTRAINT tool_drafts_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_drafts_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT tool_drafts_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
);
CREATE INDEX tool_drafts_of_caller ON tool_drafts (tenant_id, tool_id, created_by, session_id);
CREATE INDEX tool_drafts_left ON tool_drafts (saved_at);

-- Inputs of tools that people saved under a name. fields: a JSON object without private values.
CREATE TABLE tool_saved_inputs (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    tool_id uuid NOT NULL,
    name text NOT NULL,
    fields text NOT NULL,
    saved_at bigint NOT NULL,
    CONSTRAINT tool_saved_inputs_pk PRIMARY KEY (tenant_id, user_id, tool_id, name),
    CONSTRAINT tool_saved_inputs_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON tool_drafts, tool_saved_inputs TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['tool_drafts', 'tool_saved_inputs'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING (shiftbook_respondent() IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;
