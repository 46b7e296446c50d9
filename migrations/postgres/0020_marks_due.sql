-- Feedback of people that is in the database and not yet in the files beside it. Written in the transaction that keeps it;
-- removed when its line is on the disk. Only servers that keep files, on SQLite, write rows here.
CREATE TABLE marks_due (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    due_at bigint NOT NULL,
    CONSTRAINT marks_due_pk PRIMARY KEY (tenant_id, id)
);
CREATE INDEX marks_due_by_time ON marks_due (due_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON marks_due TO shiftbook_app;
ALTER TABLE marks_due ENABLE ROW LEVEL SECURITY;
ALTER TABLE marks_due FORCE ROW LEVEL SECURITY;
CREATE POLICY marks_due_of_tenant ON marks_due USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
