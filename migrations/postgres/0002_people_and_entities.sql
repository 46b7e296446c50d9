-- What the work is about (entities), and what people did meanwhile (working sessions).

-- fields: JSON array of {slug, name, type, required, options, relationType}, in the order shown.
CREATE TABLE entity_types (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    fields text NOT NULL,
    version bigint NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT entity_types_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT entity_types_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT entity_types_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

-- fields: JSON object from field slug to value. The row is the newest version.
CREATE TABLE entities (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    type_id uuid NOT NULL,
    title text NOT NULL,
    fields text NOT NULL,
    version bigint NOT NULL,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT entities_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT entities_type_fk FOREIGN KEY (tenant_id, type_id) REFERENCES entity_types (tenant_id, id)
);
CREATE INDEX entities_by_type ON entities (tenant_id, type_id, id);

-- Every version, the newest included: who wrote what, and when.
CREATE TABLE entity_versions (
    tenant_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    version bigint NOT NULL,
    title text NOT NULL,
    fields text NOT NULL,
    actor text NOT NULL,
    session_id uuid,
    at bigint NOT NULL,
    CONSTRAINT entity_versions_pk PRIMARY KEY (tenant_id, entity_id, version),
    CONSTRAINT entity_versions_entity_fk FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id)
);
CREATE TRIGGER entity_versions_no_update BEFORE UPDATE OR DELETE ON entity_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER entity_versions_no_truncate BEFORE TRUNCATE ON entity_versions
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- One run of a CSV import. source holds the rows that are still to come: next_row moves in the transaction that
-- makes the entities, so a server that dies in between repeats nothing.
CREATE TABLE entity_imports (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    type_id uuid NOT NULL,
    status text NOT NULL,
    source text NOT NULL,
    mapping text NOT NULL,
    rows_total bigint NOT NULL,
    next_row bigint NOT NULL,
    created_count bigint NOT NULL,
    failed_count bigint NOT NULL,
    errors text NOT NULL,
    actor text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT entity_imports_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT entity_imports_type_fk FOREIGN KEY (tenant_id, type_id) REFERENCES entity_types (tenant_id, id),
    CONSTRAINT entity_imports_status_known CHECK (status IN ('running', 'completed', 'failed'))
);
CREATE INDEX entity_imports_running ON entity_imports (updated_at) WHERE status = 'running';

-- The entity a task is about, and the entity a session was about when it was made.
ALTER TABLE actions ADD COLUMN target_entity_id uuid;
ALTER TABLE actions ADD CONSTRAINT actions_target_fk FOREIGN KEY (tenant_id, target_entity_id) REFERENCES entities (tenant_id, id);
ALTER TABLE sessions ADD COLUMN entity_id uuid;
ALTER TABLE sessions ADD CONSTRAINT sessions_entity_fk FOREIGN KEY (tenant_id, entity_id) REFERENCES entities (tenant_id, id);
CREATE INDEX sessions_by_entity ON sessions (tenant_id, entity_id, id) WHERE entity_id IS NOT NULL;

-- The person a token speaks for, where it is one person's own: it may read what that person did.
ALTER TABLE api_tokens ADD COLUMN user_id uuid;
ALTER TABLE api_tokens ADD CONSTRAINT api_tokens_membership_fk FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id);

-- A person's working sessions: the open ones by age for the sweep, their own by day.
CREATE INDEX sessions_human_open ON sessions (started_at) WHERE source = 'human-session-bridge' AND status = 'running';
CREATE INDEX sessions_human_own ON sessions (tenant_id, user_id, started_at) WHERE source = 'human-session-bridge';

-- Work that one server does for all of them: whoever holds the lease.
CREATE TABLE leases (
    name text NOT NULL,
    holder text NOT NULL,
    expires_at bigint NOT NULL,
    CONSTRAINT leases_pk PRIMARY KEY (name)
);

GRANT SELECT, INSERT ON entity_types, entities, entity_versions, entity_imports, leases TO shiftbook_app;
GRANT UPDATE ON entity_types, entities, entity_imports, leases TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['entity_types', 'entities', 'entity_versions', 'entity_imports'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
