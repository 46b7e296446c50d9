-- Times are microseconds since the Unix epoch, JSON is text kept as it was sent (jsonb would reorder it and break its digest).

CREATE TABLE tenants (
    id uuid NOT NULL,
    slug text NOT NULL,
    name text NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT tenants_pk PRIMARY KEY (id),
    CONSTRAINT tenants_slug_unique UNIQUE (slug)
);

CREATE TABLE users (
    id uuid NOT NULL,
    email text NOT NULL,
    password_hash text NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT users_pk PRIMARY KEY (id),
    CONSTRAINT users_email_unique UNIQUE (email)
);

CREATE TABLE memberships (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    role text NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT memberships_pk PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT memberships_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT memberships_user_fk FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT memberships_role_known CHECK (role IN ('admin', 'operator', 'reviewer', 'member'))
);
CREATE INDEX memberships_by_user ON memberships (user_id);

-- A browser's sign-in. Only the SHA-256 of its cookie is kept.
CREATE TABLE browser_sessions (
    id uuid NOT NULL,
    secret_digest bytea NOT NULL,
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    created_at bigint NOT NULL,
    last_seen_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    CONSTRAINT browser_sessions_pk PRIMARY KEY (id),
    CONSTRAINT browser_sessions_secret_unique UNIQUE (secret_digest),
    CONSTRAINT browser_sessions_membership_fk FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id)
);

-- Only the SHA-256 of a token is kept.
CREATE TABLE api_tokens (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    secret_digest bytea NOT NULL,
    hint text NOT NULL,
    role text NOT NULL,
    scope text,
    created_at bigint NOT NULL,
    last_used_at bigint,
    revoked_at bigint,
    CONSTRAINT api_tokens_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT api_tokens_secret_unique UNIQUE (secret_digest),
    CONSTRAINT api_tokens_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT api_tokens_role_known CHECK (role IN ('admin', 'operator', 'reviewer', 'member')),
    CONSTRAINT api_tokens_scope_known CHECK (scope IS NULL OR scope IN ('worker'))
);

CREATE TABLE actions (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    name text NOT NULL,
    slug text NOT NULL,
    description text NOT NULL,
    agent_slug text,
    assigned_to uuid,
    output_type text NOT NULL,
    output_config text NOT NULL,
    metadata text NOT NULL,
    status text NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    CONSTRAINT actions_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT actions_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT actions_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT actions_assignee_fk FOREIGN KEY (tenant_id, assigned_to) REFERENCES memberships (tenant_id, user_id),
    CONSTRAINT actions_status_known CHECK (status IN ('active', 'archived'))
);
CREATE INDEX actions_by_assignee ON actions (tenant_id, assigned_to, status);

CREATE TABLE sessions (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_type text NOT NULL,
    status text NOT NULL,
    end_reason text,
    action_id uuid,
    action_slug text,
    agent_slug text,
    user_id uuid,
    source text,
    title text NOT NULL,
    input text,
    metadata text NOT NULL,
    result text,
    usage text,
    error_message text,
    error_code text,
    parent_id uuid,
    retry_of uuid,
    created_by text NOT NULL,
    idempotency_key text,
    idempotency_digest bytea,
    attempt bigint NOT NULL DEFAULT 0,
    attempts_max bigint NOT NULL,
    lease_seconds bigint,
    lease_expires_at bigint,
    head_sequence bigint NOT NULL DEFAULT 0,
    head_digest bytea NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    queued_at bigint,
    started_at bigint,
    completed_at bigint,
    CONSTRAINT sessions_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT sessions_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT sessions_action_fk FOREIGN KEY (tenant_id, action_id) REFERENCES actions (tenant_id, id),
    CONSTRAINT sessions_parent_fk FOREIGN KEY (tenant_id, parent_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT sessions_retry_fk FOREIGN KEY (tenant_id, retry_of) REFERENCES sessions (tenant_id, id),
    CONSTRAINT sessions_type_known CHECK (session_type IN ('agent', 'response', 'tool', 'mixed')),
    CONSTRAINT sessions_status_known CHECK (status IN ('draft', 'pending', 'running', 'completed', 'failed',
        'waiting_human', 'awaiting_tool', 'idle', 'expired', 'abandoned'))
);
-- Lists are newest first by id: UUIDv7 sorts by creation.
CREATE INDEX sessions_by_status ON sessions (tenant_id, status, id);
CREATE INDEX sessions_by_action ON sessions (tenant_id, action_id, status, completed_at);
CREATE INDEX sessions_by_action_newest ON sessions (tenant_id, action_id, id);
CREATE INDEX sessions_by_parent ON sessions (tenant_id, parent_id, id) WHERE parent_id IS NOT NULL;
CREATE UNIQUE INDEX sessions_idempotency ON sessions (tenant_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX sessions_claimable ON sessions (tenant_id, agent_slug, queued_at, id) WHERE status = 'pending';
CREATE INDEX sessions_claimable_any ON sessions (tenant_id, queued_at, id) WHERE status = 'pending';
CREATE INDEX sessions_leased ON sessions (lease_expires_at) WHERE lease_expires_at IS NOT NULL;
-- One working session per person and workspace (the human session bridge).
CREATE UNIQUE INDEX sessions_one_active_human ON sessions (tenant_id, user_id)
    WHERE source = 'human-session-bridge' AND status = 'running';

CREATE TABLE session_events (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    sequence bigint NOT NULL,
    event_id uuid NOT NULL,
    event_type text NOT NULL,
    role text NOT NULL,
    content text NOT NULL,
    metadata text NOT NULL,
    thread_id text,
    external_event_id text,
    attempt bigint,
    actor text NOT NULL,
    at bigint NOT NULL,
    recorded_at bigint NOT NULL,
    body_digest bytea NOT NULL,
    digest bytea NOT NULL,
    -- No foreign key to sessions: every append locks and updates the session row in the same transaction,
    -- and a key check per event would cost more than the insert.
    CONSTRAINT session_events_pk PRIMARY KEY (tenant_id, session_id, sequence)
) PARTITION BY RANGE (session_id);
-- Session ids are UUIDv7, so a range of ids is a range of time: old months can be moved or dropped whole.
-- The server adds a partition per month ahead of time; the default one catches what it has not foreseen.
CREATE TABLE session_events_default PARTITION OF session_events DEFAULT;
CREATE UNIQUE INDEX session_events_id ON session_events (tenant_id, session_id, event_id);
CREATE UNIQUE INDEX session_events_external_id ON session_events (tenant_id, session_id, external_event_id)
    WHERE external_event_id IS NOT NULL;
-- The timeline and the kind filter read the few rows that are not the agent's own chatter.
CREATE INDEX session_events_by_type ON session_events (tenant_id, session_id, event_type, sequence);

-- Sign-in attempts by e-mail digest, so that guessing is slowed down across restarts and servers.
CREATE TABLE sign_in_attempts (
    email_digest bytea NOT NULL,
    failures bigint NOT NULL,
    blocked_until bigint NOT NULL,
    CONSTRAINT sign_in_attempts_pk PRIMARY KEY (email_digest)
);

-- Claims walk the pending rows and leave dead tuples behind: keep them few.
ALTER TABLE sessions SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE FUNCTION shiftbook_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER session_events_no_update BEFORE UPDATE OR DELETE ON session_events
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER session_events_no_truncate BEFORE TRUNCATE ON session_events
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER sessions_no_delete BEFORE DELETE ON sessions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER sessions_no_truncate BEFORE TRUNCATE ON sessions
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();
-- A final session stays final, whatever code asks.
CREATE FUNCTION shiftbook_final_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a final session does not change its status' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER sessions_final_stays BEFORE UPDATE OF status ON sessions FOR EACH ROW
    WHEN (OLD.status IN ('completed', 'failed', 'abandoned', 'expired') AND NEW.status <> OLD.status)
    EXECUTE FUNCTION shiftbook_final_stays();

-- The server works as a role that owns nothing. Roles belong to the cluster, so another database may have made it.
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'shiftbook_app') THEN
        CREATE ROLE shiftbook_app NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;
DO $$ BEGIN
    EXECUTE format('GRANT shiftbook_app TO %I', current_user);
END $$;
GRANT SELECT, INSERT ON tenants, users, memberships, browser_sessions, api_tokens, actions, sessions, session_events, sign_in_attempts TO shiftbook_app;
GRANT UPDATE ON tenants, users, memberships, browser_sessions, api_tokens, actions, sessions, sign_in_attempts TO shiftbook_app;
GRANT DELETE ON memberships, browser_sessions, sign_in_attempts TO shiftbook_app;

-- Who acts is set per transaction: app.tenant and app.user, or app.system for sign-in and sweeps.
CREATE FUNCTION shiftbook_tenant() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('app.tenant', true), '')::uuid $$;
CREATE FUNCTION shiftbook_user() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('app.user', true), '')::uuid $$;
CREATE FUNCTION shiftbook_is_system() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT coalesce(current_setting('app.system', true), '') = 'on' $$;

DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['memberships', 'api_tokens', 'actions', 'sessions', 'session_events', 'browser_sessions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
ALTER TABLE tenants ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenants FORCE ROW LEVEL SECURITY;
CREATE POLICY tenants_own ON tenants USING (id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
-- People write human.* events alone, and only to their own running mixed session.
CREATE POLICY session_events_human_by_owner ON session_events AS RESTRICTIVE FOR INSERT WITH CHECK (
    event_type NOT LIKE 'human.%'
    OR EXISTS (
        SELECT 1 FROM sessions s
        WHERE s.tenant_id = session_events.tenant_id AND s.id = session_events.session_id
          AND s.user_id = (SELECT shiftbook_user()) AND s.session_type = 'mixed' AND s.status = 'running'
    )
);
