-- People who are forgotten: one row each time. mark: an HMAC of the path of the person's document with the key of the
-- installation, so that the row names no one. The counts are what was erased.
CREATE TABLE memory_forgotten (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    mark bytea NOT NULL,
    author text NOT NULL,
    begun_at bigint NOT NULL,
    finished_at bigint,
    documents bigint NOT NULL,
    lines bigint NOT NULL,
    proposals bigint NOT NULL,
    denials bigint NOT NULL,
    lifted_at bigint,
    lifted_by text,
    CONSTRAINT memory_forgotten_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT memory_forgotten_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE INDEX memory_forgotten_now ON memory_forgotten (tenant_id, mark) WHERE lifted_at IS NULL;

CREATE INDEX gates_memory ON gates (tenant_id, id) WHERE kind = 'memory';

GRANT SELECT, INSERT, UPDATE ON memory_forgotten TO shiftbook_app;
ALTER TABLE memory_forgotten ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_forgotten FORCE ROW LEVEL SECURITY;
CREATE POLICY memory_forgotten_of_tenant ON memory_forgotten
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
