-- Private values of the inputs of tool runs, from the run until its session ends. sealed: the values with their JSON
-- Pointers, encrypted with a key that is derived from the instance key.
CREATE TABLE tool_private_inputs (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    sealed BLOB NOT NULL,
    CONSTRAINT tool_private_inputs_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_private_inputs_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- Runs that wait for a server.
CREATE INDEX sessions_http_runs ON sessions (tenant_id, agent_slug)
WHERE status = 'pending' AND substr(agent_slug, 1, 5) = 'http:';
