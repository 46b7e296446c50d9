-- What becomes of the result of a run of a tool: a task writes it to an entity when the run completes. fields: JSON, a
-- JSON Pointer into the result for each field. requested_by: with whose rights it is written. written_session_id: the
-- session of the task. refused: why it was not written.
CREATE TABLE tool_run_outputs (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    action_id BLOB NOT NULL,
    entity_id BLOB,
    fields TEXT NOT NULL,
    requested_by TEXT NOT NULL,
    written_session_id BLOB,
    refused TEXT,
    CONSTRAINT tool_run_outputs_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_run_outputs_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT, WITHOUT ROWID;
