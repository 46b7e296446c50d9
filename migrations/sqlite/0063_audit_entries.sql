-- The acts of administrators and the sign-ins of a workspace, in the order in which they were committed. Each entry is
-- bound to the one before. It names people and things by their ids, and has no names, no secrets and no texts of people.
CREATE TABLE audit_entries (
    tenant_id BLOB NOT NULL,
    -- 1, 2, 3 … per workspace.
    sequence INTEGER NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    -- user:…, token:… or system; null where nobody has proven who they are.
    actor TEXT,
    target_kind TEXT,
    target_id BLOB,
    -- A JSON object.
    detail TEXT NOT NULL,
    -- Of this entry and all before it.
    digest BLOB NOT NULL,
    CONSTRAINT audit_entries_pk PRIMARY KEY (tenant_id, sequence),
    CONSTRAINT audit_entries_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT audit_entries_target CHECK ((target_kind IS NULL) = (target_id IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_entries_by_kind ON audit_entries (tenant_id, kind, sequence);
CREATE INDEX audit_entries_by_actor ON audit_entries (tenant_id, actor, sequence) WHERE actor IS NOT NULL;
CREATE TRIGGER audit_entries_no_update BEFORE UPDATE ON audit_entries
BEGIN SELECT RAISE(ABORT, 'audit_entries is append-only'); END;
CREATE TRIGGER audit_entries_no_delete BEFORE DELETE ON audit_entries
BEGIN SELECT RAISE(ABORT, 'audit_entries is append-only'); END;

-- Where each list stands: one that was cut off at its end is found by it. Its row is locked by whoever adds an entry.
CREATE TABLE audit_heads (
    tenant_id BLOB NOT NULL,
    entries INTEGER NOT NULL,
    digest BLOB NOT NULL,
    -- Refused sign-ins: the minute of the last entry, the entries in it, and those that have no entry of their own.
    refused_minute INTEGER NOT NULL,
    refused INTEGER NOT NULL,
    unlisted INTEGER NOT NULL,
    CONSTRAINT audit_heads_pk PRIMARY KEY (tenant_id),
    CONSTRAINT audit_heads_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER audit_heads_grow BEFORE UPDATE ON audit_heads
WHEN NEW.entries < OLD.entries OR NEW.entries = OLD.entries AND NEW.digest <> OLD.digest
BEGIN SELECT RAISE(ABORT, 'audit_heads is append-only'); END;
CREATE TRIGGER audit_heads_no_delete BEFORE DELETE ON audit_heads
BEGIN SELECT RAISE(ABORT, 'audit_heads is append-only'); END;
