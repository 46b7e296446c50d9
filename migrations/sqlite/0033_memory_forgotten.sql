-- People who are forgotten: one row each time. mark: an HMAC of the path of the person's document with the key of the
-- installation, so that the row names no one. The counts are what was erased.
CREATE TABLE memory_forgotten (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    mark BLOB NOT NULL,
    author TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    finished_at INTEGER,
    documents INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    proposals INTEGER NOT NULL,
    denials INTEGER NOT NULL,
    lifted_at INTEGER,
    lifted_by TEXT,
    CONSTRAINT memory_forgotten_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT memory_forgotten_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_forgotten_now ON memory_forgotten (tenant_id, mark) WHERE lifted_at IS NULL;

CREATE INDEX gates_memory ON gates (tenant_id, id) WHERE kind = 'memory';
