-- Views: input forms that people answer. The row is the working copy; what was published is in view_versions.

-- fields, publish_config: JSON in the form of domain::view. state: draft, published or unpublished. version: the
-- version published last; null for a draft. revision: 1 at first, one more with each change of the working copy.
-- published_revision: the revision that `version` was made from. listed: 0 for a view that was made for one question
-- of an agent.
CREATE TABLE views (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    slug text NOT NULL,
    title text NOT NULL,
    introduction text NOT NULL,
    fields text NOT NULL,
    publish_config text NOT NULL,
    state text NOT NULL,
    version bigint,
    revision bigint NOT NULL,
    published_revision bigint,
    listed bigint NOT NULL,
    created_by text NOT NULL,
    updated_by text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT views_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT views_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT views_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT views_state_known CHECK (state IN ('draft', 'published', 'unpublished')),
    CONSTRAINT views_whole CHECK ((state = 'draft') = (version IS NULL) AND (version IS NULL) = (published_revision IS NULL))
);
CREATE INDEX views_listed ON views (tenant_id, id) WHERE listed = 1;

-- Responses name the version that they answer, so a version never changes.
CREATE TABLE view_versions (
    tenant_id uuid NOT NULL,
    view_id uuid NOT NULL,
    version bigint NOT NULL,
    title text NOT NULL,
    introduction text NOT NULL,
    fields text NOT NULL,
    publish_config text NOT NULL,
    published_by text NOT NULL,
    published_at bigint NOT NULL,
    CONSTRAINT view_versions_pk PRIMARY KEY (tenant_id, view_id, version),
    CONSTRAINT view_versions_view_fk FOREIGN KEY (tenant_id, view_id) REFERENCES views (tenant_id, id)
);
CREATE TRIGGER view_versions_no_update BEFORE UPDATE OR DELETE ON view_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER view_versions_no_truncate BEFORE TRUNCATE ON view_versions
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

GRANT SELECT, INSERT ON views, view_versions TO shiftbook_app;
GRANT UPDATE, DELETE ON views TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['views', 'view_versions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
