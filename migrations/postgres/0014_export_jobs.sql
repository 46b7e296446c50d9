-- Exports of training data that were asked for on a page: who, what, what became of it. Files are not here: the server that
-- made them has them while it runs. options, counts: JSON.
CREATE TABLE export_jobs (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    asked_by text NOT NULL,
    server text NOT NULL,
    options text NOT NULL,
    state text NOT NULL,
    counts text,
    error text,
    begun_at bigint NOT NULL,
    ended_at bigint,
    CONSTRAINT export_jobs_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT export_jobs_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT export_jobs_state CHECK (state IN ('running', 'done', 'stopped', 'failed'))
);
GRANT SELECT, INSERT, UPDATE, DELETE ON export_jobs TO shiftbook_app;
ALTER TABLE export_jobs ENABLE ROW LEVEL SECURITY;
ALTER TABLE export_jobs FORCE ROW LEVEL SECURITY;
CREATE POLICY export_jobs_of_tenant ON export_jobs
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
