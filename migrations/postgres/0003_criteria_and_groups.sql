-- What outputs are judged by (criteria sets), and who judges together (groups of people).

-- The row says which version is the newest; what a version says never changes.
CREATE TABLE criteria_sets (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    slug text NOT NULL,
    version bigint NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT criteria_sets_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT criteria_sets_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT criteria_sets_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

-- dimensions: JSON array of {slug, name, type, description, options, min, max}, in the order evaluated.
CREATE TABLE criteria_set_versions (
    tenant_id uuid NOT NULL,
    set_id uuid NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    dimensions text NOT NULL,
    actor text NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT criteria_set_versions_pk PRIMARY KEY (tenant_id, set_id, version),
    CONSTRAINT criteria_set_versions_set_fk FOREIGN KEY (tenant_id, set_id) REFERENCES criteria_sets (tenant_id, id)
);
CREATE TRIGGER criteria_set_versions_no_update BEFORE UPDATE OR DELETE ON criteria_set_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER criteria_set_versions_no_truncate BEFORE TRUNCATE ON criteria_set_versions
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

CREATE TABLE groups (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT groups_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT groups_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT groups_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

-- Who leaves the workspace leaves its groups.
CREATE TABLE group_members (
    tenant_id uuid NOT NULL,
    group_id uuid NOT NULL,
    user_id uuid NOT NULL,
    added_by text NOT NULL,
    added_at bigint NOT NULL,
    CONSTRAINT group_members_pk PRIMARY KEY (tenant_id, group_id, user_id),
    CONSTRAINT group_members_group_fk FOREIGN KEY (tenant_id, group_id) REFERENCES groups (tenant_id, id),
    CONSTRAINT group_members_membership_fk FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id) ON DELETE CASCADE
);
CREATE INDEX group_members_by_user ON group_members (tenant_id, user_id);

GRANT SELECT, INSERT ON criteria_sets, criteria_set_versions, groups, group_members TO shiftbook_app;
GRANT UPDATE ON criteria_sets, groups TO shiftbook_app;
GRANT DELETE ON group_members TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['criteria_sets', 'criteria_set_versions', 'groups', 'group_members'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
