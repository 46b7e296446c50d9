-- Retention: what sessions said is erased when it is old, what happened stays. The digests of the chain stay too, so
-- that the log still verifies; a row here says, sealed with the instance's key, that the content was taken out on purpose.

CREATE TABLE erasures (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    -- The whole log of a final session: events 1 to head_sequence.
    head_sequence bigint NOT NULL,
    head_digest bytea NOT NULL,
    -- Sessions that ended before this were due.
    older_than bigint NOT NULL,
    begun_at bigint NOT NULL,
    seal bytea NOT NULL,
    -- Null while it is under way: a run that was stopped is continued by the next.
    finished_at bigint,
    CONSTRAINT erasures_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT erasures_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);
CREATE FUNCTION shiftbook_being_erased(tenant uuid, session uuid, sequence bigint) RETURNS boolean LANGUAGE sql STABLE
    AS $$ SELECT EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = tenant AND e.session_id = session
        AND sequence <= e.head_sequence AND e.finished_at IS NULL) $$;
CREATE TRIGGER erasures_stay BEFORE UPDATE ON erasures FOR EACH ROW
    WHEN (OLD.finished_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.session_id <> OLD.session_id
        OR NEW.head_sequence <> OLD.head_sequence OR NEW.head_digest <> OLD.head_digest OR NEW.older_than <> OLD.older_than
        OR NEW.begun_at <> OLD.begun_at OR NEW.seal <> OLD.seal)
    EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER erasures_no_delete BEFORE DELETE ON erasures FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER erasures_no_truncate BEFORE TRUNCATE ON erasures FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- A row changes in one way: its content goes, while an erasure of its session is under way. The server's role may not even
-- try: it has no right to change these tables, nor to write erasures.
CREATE FUNCTION shiftbook_event_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.content = '[]' AND NEW.metadata = '{}'
        AND to_jsonb(NEW) - ARRAY['content', 'metadata'] = to_jsonb(OLD) - ARRAY['content', 'metadata']
        AND shiftbook_being_erased(OLD.tenant_id, OLD.session_id, OLD.sequence)
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER session_events_no_update ON session_events;
CREATE TRIGGER session_events_no_update BEFORE UPDATE ON session_events
    FOR EACH ROW EXECUTE FUNCTION shiftbook_event_stays();
CREATE TRIGGER session_events_no_delete BEFORE DELETE ON session_events
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();

CREATE FUNCTION shiftbook_gate_task_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.task_digest = OLD.task_digest AND NEW.kind = OLD.kind AND NEW.session_id = OLD.session_id
        AND shiftbook_being_erased(OLD.tenant_id, OLD.session_id, 0)
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'what a gate shows does not change' USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER gates_task_stays ON gates;
CREATE TRIGGER gates_task_stays BEFORE UPDATE OF task, task_digest, kind, session_id ON gates
    FOR EACH ROW EXECUTE FUNCTION shiftbook_gate_task_stays();

CREATE FUNCTION shiftbook_decision_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.value IS NULL AND NEW.note IS NULL
        AND to_jsonb(NEW) - ARRAY['value', 'note'] = to_jsonb(OLD) - ARRAY['value', 'note']
        AND EXISTS (SELECT 1 FROM gates g WHERE g.tenant_id = OLD.tenant_id AND g.id = OLD.gate_id
            AND shiftbook_being_erased(g.tenant_id, g.session_id, 0))
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER gate_decisions_no_update ON gate_decisions;
CREATE TRIGGER gate_decisions_no_update BEFORE UPDATE ON gate_decisions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_decision_stays();
CREATE TRIGGER gate_decisions_no_delete BEFORE DELETE ON gate_decisions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();

CREATE FUNCTION shiftbook_failure_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF to_jsonb(NEW) - ARRAY['message'] = to_jsonb(OLD) - ARRAY['message']
        AND shiftbook_being_erased(OLD.tenant_id, OLD.session_id, 0)
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER session_failures_kept ON session_failures;
CREATE TRIGGER session_failures_kept BEFORE UPDATE ON session_failures FOR EACH ROW
    WHEN (OLD.acknowledged_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.id <> OLD.id OR NEW.session_id <> OLD.session_id
        OR NEW.code <> OLD.code OR NEW.message <> OLD.message OR NEW.remediation <> OLD.remediation OR NEW.at <> OLD.at)
    EXECUTE FUNCTION shiftbook_failure_stays();

GRANT SELECT ON erasures TO shiftbook_app;
ALTER TABLE erasures ENABLE ROW LEVEL SECURITY;
ALTER TABLE erasures FORCE ROW LEVEL SECURITY;
CREATE POLICY erasures_of_tenant ON erasures
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
