-- Exports of training data that were asked for on a page: who, what, what became of it. Files are not here: the server that
-- made them has them while it runs. options, counts: JSON.
CREATE TABLE export_jobs (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    asked_by TEXT NOT NULL,
    server TEXT NOT NULL,
    options TEXT NOT NULL,
    state TEXT NOT NULL,
    counts TEXT,
    error TEXT,
    begun_at INTEGER NOT NULL,
    ended_at INTEGER,
    CONSTRAINT export_jobs_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT export_jobs_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT export_jobs_state CHECK (state IN ('running', 'done', 'stopped', 'failed'))
) STRICT, WITHOUT ROWID;
