-- Views: input forms that people answer. The row is the working copy; what was published is in view_versions.

-- fields, publish_config: JSON in the form of domain::view. state: draft, published or unpublished. version: the
-- version published last; null for a draft. revision: 1 at first, one more with each change of the working copy.
-- published_revision: the revision that `version` was made from. listed: 0 for a view that was made for one question
-- of an agent.
CREATE TABLE views (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    title TEXT NOT NULL,
    introduction TEXT NOT NULL,
    fields TEXT NOT NULL,
    publish_config TEXT NOT NULL,
    state TEXT NOT NULL,
    version INTEGER,
    revision INTEGER NOT NULL,
    published_revision INTEGER,
    listed INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT views_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT views_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT views_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT views_state_known CHECK (state IN ('draft', 'published', 'unpublished')),
    CONSTRAINT views_whole CHECK ((state = 'draft') = (version IS NULL) AND (version IS NULL) = (published_revision IS NULL))
) STRICT;
CREATE INDEX views_listed ON views (tenant_id, id) WHERE listed = 1;

-- Responses name the version that they answer, so a version never changes.
CREATE TABLE view_versions (
    tenant_id BLOB NOT NULL,
    view_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    title TEXT NOT NULL,
    introduction TEXT NOT NULL,
    fields TEXT NOT NULL,
    publish_config TEXT NOT NULL,
    published_by TEXT NOT NULL,
    published_at INTEGER NOT NULL,
    CONSTRAINT view_versions_pk PRIMARY KEY (tenant_id, view_id, version),
    CONSTRAINT view_versions_view_fk FOREIGN KEY (tenant_id, view_id) REFERENCES views (tenant_id, id)
) STRICT;
CREATE TRIGGER view_versions_no_update BEFORE UPDATE ON view_versions
BEGIN SELECT RAISE(ABORT, 'view_versions is append-only'); END;
CREATE TRIGGER view_versions_no_delete BEFORE DELETE ON view_versions
BEGIN SELECT RAISE(ABORT, 'view_versions is append-only'); END;
