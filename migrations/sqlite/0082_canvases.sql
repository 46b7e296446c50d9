-- Canvases: mixed sessions of the source `collab`, whose document people and agents edit together.

-- document: JSON at `version`, the sequence of the newest state.patch event; '{}' once the session is erased.
-- document_schema: a JSON Schema, or NULL. patches: their number. unkept_patches, unkept_bytes: since the last row of
-- canvas_snapshots.
CREATE TABLE canvases (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    document TEXT NOT NULL,
    document_schema TEXT,
    version INTEGER NOT NULL,
    patches INTEGER NOT NULL,
    unkept_patches INTEGER NOT NULL,
    unkept_bytes INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    CONSTRAINT canvases_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT canvases_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX canvases_by_change ON canvases (changed_at, tenant_id, session_id);

-- Patches that were accepted, so that one that is sent again is recognised. body_digest: of base, operations and strict
-- as they were sent. author: as the actor of events.
CREATE TABLE canvas_patches (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    op_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    body_digest BLOB NOT NULL,
    author TEXT NOT NULL,
    at INTEGER NOT NULL,
    CONSTRAINT canvas_patches_pk PRIMARY KEY (tenant_id, session_id, op_id),
    CONSTRAINT canvas_patches_canvas_fk FOREIGN KEY (tenant_id, session_id) REFERENCES canvases (tenant_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX canvas_patches_by_author ON canvas_patches (tenant_id, session_id, author, at);

-- The document at some versions, so that any version is read with few patches.
CREATE TABLE canvas_snapshots (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    document TEXT NOT NULL,
    CONSTRAINT canvas_snapshots_pk PRIMARY KEY (tenant_id, session_id, version),
    CONSTRAINT canvas_snapshots_canvas_fk FOREIGN KEY (tenant_id, session_id) REFERENCES canvases (tenant_id, session_id)
) STRICT, WITHOUT ROWID;

-- Who may change a canvas. participant: user:… or token:…
CREATE TABLE canvas_participants (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    participant TEXT NOT NULL,
    role TEXT NOT NULL,
    added_by TEXT NOT NULL,
    added_at INTEGER NOT NULL,
    CONSTRAINT canvas_participants_pk PRIMARY KEY (tenant_id, session_id, participant),
    CONSTRAINT canvas_participants_canvas_fk FOREIGN KEY (tenant_id, session_id) REFERENCES canvases (tenant_id, session_id),
    CONSTRAINT canvas_participants_role_known CHECK (role IN ('edit', 'suggest', 'view'))
) STRICT, WITHOUT ROWID;

-- Patches that participants with the role `suggest` sent. ops: JSON of the operations; base and is_strict as they were sent.
CREATE TABLE canvas_suggestions (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    op_id TEXT NOT NULL,
    base INTEGER NOT NULL,
    ops TEXT NOT NULL,
    is_strict INTEGER NOT NULL,
    body_digest BLOB NOT NULL,
    author TEXT NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    decided_by TEXT,
    decided_at INTEGER,
    CONSTRAINT canvas_suggestions_pk PRIMARY KEY (tenant_id, session_id, op_id),
    CONSTRAINT canvas_suggestions_canvas_fk FOREIGN KEY (tenant_id, session_id) REFERENCES canvases (tenant_id, session_id),
    CONSTRAINT canvas_suggestions_state_known CHECK (state IN ('open', 'accepted', 'declined')),
    CONSTRAINT canvas_suggestions_decided CHECK ((state = 'open') = (decided_at IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX canvas_suggestions_open ON canvas_suggestions (tenant_id, session_id, state, at, op_id);
