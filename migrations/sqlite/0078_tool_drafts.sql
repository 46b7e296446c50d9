-- Drafts of tool runs: the fields of a form so far. The row is deleted when the run begins and when the session ends.
-- content: JSON in the form of domain::tool::draft, without private values. rev: number of saves.
CREATE TABLE tool_drafts (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    tool_id BLOB NOT NULL,
    created_by TEXT NOT NULL,
    rev INTEGER NOT NULL,
    content TEXT NOT NULL,
    saved_at INTEGER NOT NULL,
    CONSTRAINT tool_drafts_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_drafts_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT tool_drafts_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX tool_drafts_of_caller ON tool_drafts (tenant_id, tool_id, created_by, session_id);
CREATE INDEX tool_drafts_left ON tool_drafts (saved_at);

-- Inputs of tools that people saved under a name. fields: a JSON object without private values.
CREATE TABLE tool_saved_inputs (
    tenant_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    tool_id BLOB NOT NULL,
    name TEXT NOT NULL,
    fields TEXT NOT NULL,
    saved_at INTEGER NOT NULL,
    CONSTRAINT tool_saved_inputs_pk PRIMARY KEY (tenant_id, user_id, tool_id, name),
    CONSTRAINT tool_saved_inputs_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
) STRICT, WITHOUT ROWID;
