-- The roll of each workspace: every session, in the order in which it was entered, each place bound to the one before.
-- A session that is taken out of the tables is still in it, so `verify` can name it.
CREATE TABLE session_roll (
    tenant_id BLOB NOT NULL,
    -- 1, 2, 3 … per workspace.
    ordinal INTEGER NOT NULL,
    session_id BLOB NOT NULL,
    -- Of what the session was made with, and of its first event.
    entry_digest BLOB NOT NULL,
    -- Of this place and all before it.
    root BLOB NOT NULL,
    CONSTRAINT session_roll_pk PRIMARY KEY (tenant_id, ordinal),
    CONSTRAINT session_roll_session_unique UNIQUE (tenant_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER session_roll_no_update BEFORE UPDATE ON session_roll
BEGIN SELECT RAISE(ABORT, 'session_roll is append-only'); END;
CREATE TRIGGER session_roll_no_delete BEFORE DELETE ON session_roll
BEGIN SELECT RAISE(ABORT, 'session_roll is append-only'); END;

-- Where each roll stands: a roll that was cut off at its end is found by it.
CREATE TABLE session_roll_heads (
    tenant_id BLOB NOT NULL,
    sessions INTEGER NOT NULL,
    root BLOB NOT NULL,
    CONSTRAINT session_roll_heads_pk PRIMARY KEY (tenant_id),
    CONSTRAINT session_roll_heads_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER session_roll_heads_grow BEFORE UPDATE ON session_roll_heads WHEN NEW.sessions <= OLD.sessions
BEGIN SELECT RAISE(ABORT, 'session_roll_heads is append-only'); END;
CREATE TRIGGER session_roll_heads_no_delete BEFORE DELETE ON session_roll_heads
BEGIN SELECT RAISE(ABORT, 'session_roll_heads is append-only'); END;

-- Sessions that wait to be entered: a sweep does it, because a counter in the transaction that makes a session would have
-- all who make one in a workspace wait for each other.
CREATE TABLE session_unrolled (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    CONSTRAINT session_unrolled_pk PRIMARY KEY (tenant_id, session_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER sessions_are_rolled AFTER INSERT ON sessions
BEGIN INSERT INTO session_unrolled (tenant_id, session_id) VALUES (NEW.tenant_id, NEW.id); END;

-- How far the sessions that were there before have been queued. One row.
CREATE TABLE session_roll_fill (
    id INTEGER NOT NULL,
    tenant_id BLOB,
    session_id BLOB,
    is_done INTEGER NOT NULL,
    CONSTRAINT session_roll_fill_pk PRIMARY KEY (id)
) STRICT;
INSERT INTO session_roll_fill (id, is_done) VALUES (1, 0);
