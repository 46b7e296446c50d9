-- Times are microseconds since the Unix epoch, ids are 16-byte blobs, JSON is text kept as it was sent.

CREATE TABLE tenants (
    id BLOB NOT NULL,
    slug TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT tenants_pk PRIMARY KEY (id),
    CONSTRAINT tenants_slug_unique UNIQUE (slug)
) STRICT;

CREATE TABLE users (
    id BLOB NOT NULL,
    email TEXT NOT NULL,
    password_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT users_pk PRIMARY KEY (id),
    CONSTRAINT users_email_unique UNIQUE (email)
) STRICT;

CREATE TABLE memberships (
    tenant_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    role TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT memberships_pk PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT memberships_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT memberships_user_fk FOREIGN KEY (user_id) REFERENCES users (id),
    CONSTRAINT memberships_role_known CHECK (role IN ('admin', 'operator', 'reviewer', 'member'))
) STRICT, WITHOUT ROWID;
CREATE INDEX memberships_by_user ON memberships (user_id);

-- A browser's sign-in. Only the SHA-256 of its cookie is kept.
CREATE TABLE browser_sessions (
    id BLOB NOT NULL,
    secret_digest BLOB NOT NULL,
    tenant_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    CONSTRAINT browser_sessions_pk PRIMARY KEY (id),
    CONSTRAINT browser_sessions_secret_unique UNIQUE (secret_digest),
    CONSTRAINT browser_sessions_membership_fk FOREIGN KEY (tenant_id, user_id) REFERENCES memberships (tenant_id, user_id)
) STRICT;

-- Only the SHA-256 of a token is kept.
CREATE TABLE api_tokens (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    secret_digest BLOB NOT NULL,
    hint TEXT NOT NULL,
    role TEXT NOT NULL,
    scope TEXT,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER,
    CONSTRAINT api_tokens_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT api_tokens_secret_unique UNIQUE (secret_digest),
    CONSTRAINT api_tokens_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT api_tokens_role_known CHECK (role IN ('admin', 'operator', 'reviewer', 'member')),
    CONSTRAINT api_tokens_scope_known CHECK (scope IS NULL OR scope IN ('worker'))
) STRICT;

CREATE TABLE actions (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    slug TEXT NOT NULL,
    description TEXT NOT NULL,
    agent_slug TEXT,
    assigned_to BLOB,
    output_type TEXT NOT NULL,
    output_config TEXT NOT NULL,
    metadata TEXT NOT NULL,
    status TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CONSTRAINT actions_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT actions_slug_unique UNIQUE (tenant_id, slug),
    CONSTRAINT actions_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT actions_assignee_fk FOREIGN KEY (tenant_id, assigned_to) REFERENCES memberships (tenant_id, user_id),
    CONSTRAINT actions_status_known CHECK (status IN ('active', 'archived'))
) STRICT;
CREATE INDEX actions_by_assignee ON actions (tenant_id, assigned_to, status);

CREATE TABLE sessions (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_type TEXT NOT NULL,
    status TEXT NOT NULL,
    end_reason TEXT,
    action_id BLOB,
    action_slug TEXT,
    agent_slug TEXT,
    user_id BLOB,
    source TEXT,
    title TEXT NOT NULL,
    input TEXT,
    metadata TEXT NOT NULL,
    result TEXT,
    usage TEXT,
    error_message TEXT,
    error_code TEXT,
    parent_id BLOB,
    retry_of BLOB,
    created_by TEXT NOT NULL,
    idempotency_key TEXT,
    idempotency_digest BLOB,
    attempt INTEGER NOT NULL DEFAULT 0,
    attempts_max INTEGER NOT NULL,
    lease_seconds INTEGER,
    lease_expires_at INTEGER,
    head_sequence INTEGER NOT NULL DEFAULT 0,
    head_digest BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    queued_at INTEGER,
    started_at INTEGER,
    completed_at INTEGER,
    CONSTRAINT sessions_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT sessions_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT sessions_action_fk FOREIGN KEY (tenant_id, action_id) REFERENCES actions (tenant_id, id),
    CONSTRAINT sessions_parent_fk FOREIGN KEY (tenant_id, parent_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT sessions_retry_fk FOREIGN KEY (tenant_id, retry_of) REFERENCES sessions (tenant_id, id),
    CONSTRAINT sessions_type_known CHECK (session_type IN ('agent', 'response', 'tool', 'mixed')),
    CONSTRAINT sessions_status_known CHECK (status IN ('draft', 'pending', 'running', 'completed', 'failed',
        'waiting_human', 'awaiting_tool', 'idle', 'expired', 'abandoned'))
) STRICT;
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
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    event_id BLOB NOT NULL,
    event_type TEXT NOT NULL,
    role TEXT NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    thread_id TEXT,
    external_event_id TEXT,
    attempt INTEGER,
    actor TEXT NOT NULL,
    at INTEGER NOT NULL,
    recorded_at INTEGER NOT NULL,
    body_digest BLOB NOT NULL,
    digest BLOB NOT NULL,
    -- No foreign key to sessions: every append locks and updates the session row in the same transaction,
    -- and a key check per event would cost more than the insert.
    CONSTRAINT session_events_pk PRIMARY KEY (tenant_id, session_id, sequence)
) STRICT;
CREATE UNIQUE INDEX session_events_id ON session_events (tenant_id, session_id, event_id);
CREATE UNIQUE INDEX session_events_external_id ON session_events (tenant_id, session_id, external_event_id)
    WHERE external_event_id IS NOT NULL;
-- The timeline and the kind filter read the few rows that are not the agent's own chatter.
CREATE INDEX session_events_by_type ON session_events (tenant_id, session_id, event_type, sequence);

CREATE TRIGGER session_events_no_update BEFORE UPDATE ON session_events
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;
CREATE TRIGGER session_events_no_delete BEFORE DELETE ON session_events
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;
-- A final session stays final, whatever code asks.
CREATE TRIGGER sessions_final_stays BEFORE UPDATE OF status ON sessions
WHEN OLD.status IN ('completed', 'failed', 'abandoned', 'expired') AND NEW.status <> OLD.status
BEGIN SELECT RAISE(ABORT, 'a final session does not change its status'); END;
CREATE TRIGGER sessions_no_delete BEFORE DELETE ON sessions
BEGIN SELECT RAISE(ABORT, 'sessions are kept'); END;

-- Sign-in attempts by e-mail digest, so that guessing is slowed down across restarts and servers.
CREATE TABLE sign_in_attempts (
    email_digest BLOB NOT NULL,
    failures INTEGER NOT NULL,
    blocked_until INTEGER NOT NULL,
    CONSTRAINT sign_in_attempts_pk PRIMARY KEY (email_digest)
) STRICT;
