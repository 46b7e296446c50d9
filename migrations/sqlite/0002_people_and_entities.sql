-- What the work is about (entities), and what people did meanwhile (working sessions).

-- fields: JSON array of {slug, name, type, required, options, relationType}, in the order shown.
CREATE TABLE entity_types (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    fields TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT entity_types_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT entity_types_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT entity_types_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- fields: JSON object from field slug to value. The row is the newest version.
CREATE TABLE entities (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    type_id BLOB NOT NULL,
    title TEXT NOT NULL,
    fields TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT entities_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT entities_type_fk FOREIGN KEY (tenant_id, type_id) REFERENCES entity_types (tenant_id, id)
) STRICT;
CREATE INDEX entities_by_type ON entities (tenant_id, type_id, id);

-- Every version, the newest included: who wrote what, and when.
CREATE TABLE entity_versions (
    tenant_id BLOB NOT NULL,
    entity_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    title TEXT NOT NULL,
    fields TEXT NOT NULL,
    actor TEXT NOT NULL,
    session_id BLOB,
    at INTEGER NOT NULL,
    CONSTRAINT entity_versions_pk PRIMARY KEY (tenant_id, entity_id, version),
    CONSTRAINT entity_versions_entity_fk FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
) STRICT;
CREATE TRIGGER entity_versions_no_update BEFORE UPDATE ON entity_versions
BEGIN SELECT RAISE(ABORT, 'entity_versions is append-only'); END;
CREATE TRIGGER entity_versions_no_delete BEFORE DELETE ON entity_versions
BEGIN SELECT RAISE(ABORT, 'entity_versions is append-only'); END;

-- One run of a CSV import. source holds the rows that are still to come: next_row moves in the transaction that
-- makes the entities, so a server that dies in between repeats nothing.
CREATE TABLE entity_imports (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    type_id BLOB NOT NULL,
    status TEXT NOT NULL,
    source TEXT NOT NULL,
    mapping TEXT NOT NULL,
    rows_total INTEGER NOT NULL,
    next_row INTEGER NOT NULL,
    created_count INTEGER NOT NULL,
    failed_count INTEGER NOT NULL,
    errors TEXT NOT NULL,
    actor TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT entity_imports_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT entity_imports_type_fk FOREIGN KEY (tenant_id, type_id) REFERENCES entity_types (tenant_id, id),
    CONSTRAINT entity_imports_status_known CHECK (status IN ('running', 'completed', 'failed'))
) STRICT;
CREATE INDEX entity_imports_running ON entity_imports (updated_at) WHERE status = 'running';

-- The entity a task is about, and the entity a session was about when it was made. ALTER TABLE takes no
-- composite foreign key here; the store checks them in the same transaction.
ALTER TABLE actions ADD COLUMN target_entity_id BLOB;
ALTER TABLE sessions ADD COLUMN entity_id BLOB;
CREATE INDEX sessions_by_entity ON sessions (tenant_id, entity_id, id) WHERE entity_id IS NOT NULL;

-- The person a token speaks for, where it is one person's own: it may read what that person did.
ALTER TABLE api_tokens ADD COLUMN user_id BLOB;

-- A person's working sessions: the open ones by age for the sweep, their own by day.
CREATE INDEX sessions_human_open ON sessions (started_at) WHERE source = 'human-session-bridge' AND status = 'running';
CREATE INDEX sessions_human_own ON sessions (tenant_id, user_id, started_at) WHERE source = 'human-session-bridge';

-- Work that one server does for all of them: whoever holds the lease.
CREATE TABLE leases (
    name TEXT NOT NULL,
    holder TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    CONSTRAINT leases_pk PRIMARY KEY (name)
) STRICT;
