-- Results of more than 256 KiB, apart from the rows that lists read. sessions.result is then the empty text, which is no
-- JSON.
CREATE TABLE session_results (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    result TEXT NOT NULL,
    CONSTRAINT session_results_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT session_results_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT;
