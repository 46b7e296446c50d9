-- Tools: calls that people, programs and agents make by name. The row is the working copy; what was published is in
-- tool_versions.

-- definition: JSON in the form of domain::tool. state: draft, published or unpublished. version: the version published
-- last; null for a draft. revision: 1 at first, one more with each change of the working copy. published_revision: the
-- revision that `version` was made from.
CREATE TABLE tools (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    definition TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER,
    revision INTEGER NOT NULL,
    published_revision INTEGER,
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT tools_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT tools_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT tools_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT tools_state_known CHECK (state IN ('draft', 'published', 'unpublished')),
    CONSTRAINT tools_whole CHECK ((state = 'draft') = (version IS NULL) AND (version IS NULL) = (published_revision IS NULL))
) STRICT;

-- A run names its version, so a version never changes.
CREATE TABLE tool_versions (
    tenant_id BLOB NOT NULL,
    tool_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    definition TEXT NOT NULL,
    published_by TEXT NOT NULL,
    published_at INTEGER NOT NULL,
    CONSTRAINT tool_versions_pk PRIMARY KEY (tenant_id, tool_id, version),
    CONSTRAINT tool_versions_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
) STRICT;
CREATE TRIGGER tool_versions_no_update BEFORE UPDATE ON tool_versions
BEGIN SELECT RAISE(ABORT, 'tool_versions is append-only'); END;
CREATE TRIGGER tool_versions_no_delete BEFORE DELETE ON tool_versions
BEGIN SELECT RAISE(ABORT, 'tool_versions is append-only'); END;

-- Secrets that calls of a tool need. sealed: the value, encrypted with a key that is derived from the instance key.
CREATE TABLE tool_secrets (
    tenant_id BLOB NOT NULL,
    tool_id BLOB NOT NULL,
    name TEXT NOT NULL,
    sealed BLOB NOT NULL,
    set_by TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    CONSTRAINT tool_secrets_pk PRIMARY KEY (tenant_id, tool_id, name),
    CONSTRAINT tool_secrets_tool_fk FOREIGN KEY (tenant_id, tool_id) REFERENCES tools (tenant_id, id)
) STRICT;
