-- The acts of administrators and the sign-ins of a workspace, in the order in which they were committed. Each entry is
-- bound to the one before. It names people and things by their ids, and has no names, no secrets and no texts of people.
CREATE TABLE audit_entries (
    tenant_id uuid NOT NULL,
    -- 1, 2, 3 … per workspace.
    sequence bigint NOT NULL,
    at bigint NOT NULL,
    kind text NOT NULL,
    -- user:…, token:… or system; null where nobody has proven who they are.
    actor text,
    target_kind text,
    target_id uuid,
    -- A JSON object.
    detail text NOT NULL,
    -- Of this entry and all before it.
    digest bytea NOT NULL,
    CONSTRAINT audit_entries_pk PRIMARY KEY (tenant_id, sequence),
    CONSTRAINT audit_entries_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT audit_entries_target CHECK ((target_kind IS NULL) = (target_id IS NULL))
);
CREATE INDEX audit_entries_by_kind ON audit_entries (tenant_id, kind, sequence);
CREATE INDEX audit_entries_by_actor ON audit_entries (tenant_id, actor, sequence) WHERE actor IS NOT NULL;
CREATE TRIGGER audit_entries_no_update BEFORE UPDATE OR DELETE ON audit_entries
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER audit_entries_no_truncate BEFORE TRUNCATE ON audit_entries
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- Where each list stands: one that was cut off at its end is found by it. Its row is locked by whoever adds an entry.
CREATE TABLE audit_heads (
    tenant_id uuid NOT NULL,
    entries bigint NOT NULL,
    digest bytea NOT NULL,
    -- Refused sign-ins: the minute of the last entry, the entries in it, and those that have no entry of their own.
    refused_minute bigint NOT NULL,
    refused bigint NOT NULL,
    unlisted bigint NOT NULL,
    CONSTRAINT audit_heads_pk PRIMARY KEY (tenant_id),
    CONSTRAINT audit_heads_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TRIGGER audit_heads_grow BEFORE UPDATE ON audit_heads FOR EACH ROW
    WHEN (NEW.entries < OLD.entries OR NEW.entries = OLD.entries AND NEW.digest <> OLD.digest)
    EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER audit_heads_no_delete BEFORE DELETE ON audit_heads
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER audit_heads_no_truncate BEFORE TRUNCATE ON audit_heads
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

GRANT SELECT, INSERT ON audit_entries TO shiftbook_app;
GRANT SELECT, INSERT, UPDATE ON audit_heads TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['audit_entries', 'audit_heads'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING (shiftbook_respondent() IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;
