-- The roll of each workspace: every session, in the order in which it was entered, each place bound to the one before.
-- A session that is taken out of the tables is still in it, so `verify` can name it.
CREATE TABLE session_roll (
    tenant_id uuid NOT NULL,
    -- 1, 2, 3 … per workspace.
    ordinal bigint NOT NULL,
    session_id uuid NOT NULL,
    -- Of what the session was made with, and of its first event.
    entry_digest bytea NOT NULL,
    -- Of this place and all before it.
    root bytea NOT NULL,
    CONSTRAINT session_roll_pk PRIMARY KEY (tenant_id, ordinal),
    CONSTRAINT session_roll_session_unique UNIQUE (tenant_id, session_id)
);
CREATE TRIGGER session_roll_no_update BEFORE UPDATE OR DELETE ON session_roll
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER session_roll_no_truncate BEFORE TRUNCATE ON session_roll
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- Where each roll stands: a roll that was cut off at its end is found by it.
CREATE TABLE session_roll_heads (
    tenant_id uuid NOT NULL,
    sessions bigint NOT NULL,
    root bytea NOT NULL,
    CONSTRAINT session_roll_heads_pk PRIMARY KEY (tenant_id),
    CONSTRAINT session_roll_heads_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);
CREATE TRIGGER session_roll_heads_grow BEFORE UPDATE ON session_roll_heads FOR EACH ROW
    WHEN (NEW.sessions <= OLD.sessions) EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER session_roll_heads_no_delete BEFORE DELETE ON session_roll_heads
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER session_roll_heads_no_truncate BEFORE TRUNCATE ON session_roll_heads
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- Sessions that wait to be entered: a sweep does it, because a counter in the transaction that makes a session would have
-- all who make one in a workspace wait for each other.
CREATE TABLE session_unrolled (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    CONSTRAINT session_unrolled_pk PRIMARY KEY (tenant_id, session_id)
);
-- Rows live for a second: dead ones are not to pile up.
ALTER TABLE session_unrolled SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);
CREATE FUNCTION shiftbook_note_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO session_unrolled (tenant_id, session_id) VALUES (NEW.tenant_id, NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER sessions_are_rolled AFTER INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION shiftbook_note_session();

-- How far the sessions that were there before have been queued. One row.
CREATE TABLE session_roll_fill (
    id bigint NOT NULL,
    tenant_id uuid,
    session_id uuid,
    is_done bigint NOT NULL,
    CONSTRAINT session_roll_fill_pk PRIMARY KEY (id)
);
INSERT INTO session_roll_fill (id, is_done) VALUES (1, 0);

GRANT SELECT, INSERT ON session_roll TO shiftbook_app;
GRANT SELECT, INSERT, UPDATE ON session_roll_heads TO shiftbook_app;
GRANT SELECT, INSERT, DELETE ON session_unrolled TO shiftbook_app;
GRANT SELECT, UPDATE ON session_roll_fill TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['session_roll', 'session_roll_heads', 'session_unrolled'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
ALTER TABLE session_roll_fill ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_roll_fill FORCE ROW LEVEL SECURITY;
CREATE POLICY session_roll_fill_of_system ON session_roll_fill USING ((SELECT shiftbook_is_system()));
