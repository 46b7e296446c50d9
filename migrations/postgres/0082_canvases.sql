-- Canvases: mixed sessions of the source `collab`, whose document people and agents edit together.

-- document: JSON at `version`, the sequence of the newest state.patch event; '{}' once the session is erased.
-- document_schema: a JSON Schema, or NULL. patches: their number. unkept_patches, unkept_bytes: since the last row of
-- canvas_snapshots.
CREATE TABLE canvases (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    document text NOT NULL,
    document_schema text,
    version bigint NOT NULL,
    patches bigint NOT NULL,
    unkept_patches bigint NOT NULL,
    unkept_bytes bigint NOT NULL,
    changed_at bigint NOT NULL,
    CONSTRAINT canvases_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT canvases_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);
CREATE INDEX canvases_by_change ON canvases (changed_at, tenant_id, session_id);

-- Patches that were accepted, so that one that is sent again is recognised. body_digest: of base, operations and strict
-- as they were sent. author: as the actor of events.
CREATE TABLE canvas_patches (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    op_id text NOT NULL,
    sequence bigint NOT NULL,
    body_digest bytea NOT NULL,
    author text NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT canvas_patches_pk PRIMARY KEY (tenant_id, session_id, op_id),
    CONSTRAINT canvas_patches_canvas_fk FOREIGN KEY (tenant_id, session_id) REFERENCES canvases (tenant_id, session_id)
);
CREATE INDEX canvas_patches_by_author ON canvas_patches (tenant_id, session_id, author, at);

-- The document at some versions, so that any version is read with few patches.
CREATE TABLE canvas_snapshots (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    version bigint NOT NULL,
    document text NOT NULL,
    CONSTRAINT canvas_snapshots_pk PRIMARY KEY (tenant_id, session_id, version),
    CONSTRAINT canvas_snapshots_canvas_fk FOREIGN KEY (tenant_id, session_id) REFERENCES canvases (tenant_id, session_id)
);

-- Who may change a canvas. participant: user:… or token:…
CREATE TABLE canvas_participants (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    participant text NOT NULL,
    role text NOT NULL,
    added_by text NOT NULL,
    added_at bigint NOT NULL,
    CONSTRAINT canvas_participants_pk PRIMARY KEY (tenant_id, session_id, participant),
    CONSTRAINT canvas_participants_canvas_fk FOREIGN KEY (tenant_id, session_id) REFERENCES canvases (tenant_id, session_id),
    CONSTRAINT canvas_participants_role_known CHECK (role IN ('edit', 'suggest', 'view'))
);

-- Patches that participants with the role `suggest` sent. ops: JSON of the operations; base and is_strict as they were sent.
CREATE TABLE canvas_suggestions (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    op_id text NOT NULL,
    base bigint NOT NULL,
    ops text NOT NULL,
    is_strict bigint NOT NULL,
    body_digest bytea NOT NULL,
    author text NOT NULL,
    at bigint NOT NULL,
    state text NOT NULL,
    decided_by text,
    decided_at bigint,
    CONSTRAINT canvas_suggestions_pk PRIMARY KEY (tenant_id, session_id, op_id),
    CONSTRAINT canvas_suggestions_canvas_fk FOREIGN KEY (tenant_id, session_id) REFERENCES canvases (tenant_id, session_id),
    CONSTRAINT canvas_suggestions_state_known CHECK (state IN ('open', 'accepted', 'declined')),
    CONSTRAINT canvas_suggestions_decided CHECK ((state = 'open') = (decided_at IS NULL))
);
CREATE INDEX canvas_suggestions_open ON canvas_suggestions (tenant_id, session_id, state, at, op_id);

GRANT SELECT, INSERT, UPDATE ON canvases, canvas_suggestions TO shiftbook_app;
GRANT SELECT, INSERT ON canvas_patches, canvas_snapshots TO shiftbook_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON canvas_participants TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['canvases', 'canvas_patches', 'canvas_snapshots', 'canvas_participants',
        'canvas_suggestions'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING (shiftbook_respondent() IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;
