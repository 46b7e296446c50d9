-- Search lines that people saved under a name. shared: 1 for one that everyone in the workspace sees.
CREATE TABLE saved_searches (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    name TEXT NOT NULL,
    line TEXT NOT NULL,
    shared INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT saved_searches_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT saved_searches_name_unique UNIQUE (tenant_id, user_id, name),
    CONSTRAINT saved_searches_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX saved_searches_shared ON saved_searches (tenant_id) WHERE shared = 1;
