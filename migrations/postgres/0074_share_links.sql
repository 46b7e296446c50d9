-- Links with which people without an account read one session. Only the SHA-256 of a link's secret is kept.

-- audience: tool_result or session. uses: how often a browser opened the page with the secret.
CREATE TABLE share_links (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    audience text NOT NULL,
    secret_digest bytea NOT NULL,
    hint text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    uses bigint NOT NULL,
    last_used_at bigint,
    CONSTRAINT share_links_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT share_links_secret_unique UNIQUE (secret_digest),
    CONSTRAINT share_links_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT share_links_audience_known CHECK (audience IN ('tool_result', 'session'))
);
CREATE INDEX share_links_by_id ON share_links (id);
CREATE INDEX share_links_by_session ON share_links (tenant_id, session_id, id);
CREATE INDEX share_links_by_maker ON share_links (tenant_id, created_by, id);

-- A transaction for someone who opened a link sets app.shared_link and no workspace. So no policy of any table lets it
-- see a row, except those below: its own link, the session of that link, and the log of that session. It writes nothing.
CREATE FUNCTION shiftbook_shared_link() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('app.shared_link', true), '')::uuid $$;

GRANT SELECT, INSERT, UPDATE ON share_links TO shiftbook_app;
ALTER TABLE share_links ENABLE ROW LEVEL SECURITY;
ALTER TABLE share_links FORCE ROW LEVEL SECURITY;
CREATE POLICY share_links_of_tenant ON share_links USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY share_links_of_no_respondent ON share_links AS RESTRICTIVE USING (shiftbook_respondent() IS NULL);
CREATE POLICY share_links_opened ON share_links FOR SELECT USING (id = shiftbook_shared_link());

-- Whether the opened link shows this session. It is asked last, so about no row of a transaction's own workspace.
CREATE FUNCTION shiftbook_shares(tenant uuid, session uuid) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1 AS $$
BEGIN
    IF shiftbook_shared_link() IS NULL THEN
        RETURN false;
    END IF;
    RETURN EXISTS (SELECT 1 FROM share_links l WHERE l.id = shiftbook_shared_link() AND l.tenant_id = tenant
        AND l.session_id = session AND l.revoked_at IS NULL);
END $$;
ALTER POLICY sessions_of_tenant ON sessions
    USING (tenant_id = (SELECT shiftbook_tenant()) OR shiftbook_is_system()
        OR private_to IS NULL AND shiftbook_shares(tenant_id, id));
ALTER POLICY session_events_of_tenant ON session_events
    USING (tenant_id = (SELECT shiftbook_tenant()) OR shiftbook_is_system() OR shiftbook_shares(tenant_id, session_id));
-- Added and changed rows are checked by the policies of the workspace, which are as before.
CREATE POLICY sessions_removed_by_no_reader ON sessions AS RESTRICTIVE FOR DELETE
    USING (shiftbook_shared_link() IS NULL);
CREATE POLICY session_events_removed_by_no_reader ON session_events AS RESTRICTIVE FOR DELETE
    USING (shiftbook_shared_link() IS NULL);
