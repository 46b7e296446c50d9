-- What outputs are judged by (criteria sets), and who judges together (groups of people).

-- The row says which version is the newest; what a version says never changes.
CREATE TABLE criteria_sets (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    version INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT criteria_sets_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT criteria_sets_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT criteria_sets_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- dimensions: JSON array of {slug, name, type, description, options, min, max}, in the order evaluated.
CREATE TABLE criteria_set_versions (
    tenant_id BLOB NOT NULL,
    set_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    dimensions TEXT NOT NULL,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    CONSTRAINT criteria_set_versions_pk PRIMARY KEY (tenant_id, set_id, version),
    CONSTRAINT criteria_set_versions_set_fk FOREIGN KEY (tenant_id, set_id) REFERENCES criteria_sets (tenant_id, id)
) STRICT;
CREATE TRIGGER criteria_set_versions_no_update BEFORE UPDATE ON criteria_set_versions
BEGIN SELECT RAISE(ABORT, 'criteria_set_versions is append-only'); END;
CREATE TRIGGER criteria_set_versions_no_delete BEFORE DELETE ON criteria_set_versions
BEGIN SELECT RAISE(ABORT, 'criteria_set_versions is append-only'); END;

CREATE TABLE groups (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT groups_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT groups_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT groups_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- Who leaves the workspace leaves its groups.
CREATE TABLE group_members (
    tenant_id BLOB NOT NULL,
    group_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    added_by TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    CONSTRAINT group_members_pk PRIMARY KEY (tenant_id, group_id, user_id),
    CONSTRAINT group_members_group_fk FOREIGN KEY (tenant_id, group_id) REFERENCES groups (tenant_id, id),
    CONSTRAINT group_members_membership_fk FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id) ON DELETE CASCADE
) STRICT;
CREATE INDEX group_members_by_user ON group_members (tenant_id, user_id);
