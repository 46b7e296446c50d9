-- Feedback of people that is in the database and not yet in the files beside it. Written in the transaction that keeps it;
-- removed when its line is on the disk. Only servers that keep files, on SQLite, write rows here.
CREATE TABLE marks_due (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    due_at INTEGER NOT NULL,
    CONSTRAINT marks_due_pk PRIMARY KEY (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX marks_due_by_time ON marks_due (due_at);
