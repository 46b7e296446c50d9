-- People have names, memberships can be withdrawn, sign-ins say which browser they are, and access is given by
-- single-use links.
ALTER TABLE users ADD COLUMN name text NOT NULL DEFAULT '';

-- A removed member's row stays: what they did keeps their name, and other rows refer to it.
ALTER TABLE memberships ADD COLUMN status text NOT NULL DEFAULT 'active'
    CONSTRAINT memberships_status_known CHECK (status IN ('active', 'deactivated', 'removed'));
ALTER TABLE memberships ADD COLUMN status_at bigint;

ALTER TABLE browser_sessions ADD COLUMN browser text NOT NULL DEFAULT '';
CREATE INDEX browser_sessions_by_user ON browser_sessions (user_id);

-- Invitations and password resets. Only the SHA-256 of a link's secret is kept. Using a link deletes its row.
CREATE TABLE access_links (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    secret_digest bytea NOT NULL,
    kind text NOT NULL,
    email text NOT NULL,
    role text,
    user_id uuid,
    by_operator bigint NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    CONSTRAINT access_links_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT access_links_secret_unique UNIQUE (secret_digest),
    CONSTRAINT access_links_email_unique UNIQUE (tenant_id, kind, email),
    CONSTRAINT access_links_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT access_links_membership_fk FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id),
    CONSTRAINT access_links_kind_known CHECK (kind IN ('invitation', 'reset')),
    CONSTRAINT access_links_role_known CHECK (role IN ('admin', 'operator', 'reviewer', 'member')),
    CONSTRAINT access_links_whole CHECK ((kind = 'invitation') = (role IS NOT NULL) AND (kind = 'reset') = (user_id IS NOT NULL))
);
CREATE INDEX access_links_by_user ON access_links (user_id);
CREATE INDEX access_links_by_end ON access_links (expires_at);

GRANT SELECT, INSERT, UPDATE, DELETE ON access_links TO shiftbook_app;
ALTER TABLE access_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE access_links FORCE ROW LEVEL SECURITY;
CREATE POLICY access_links_of_tenant ON access_links
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
