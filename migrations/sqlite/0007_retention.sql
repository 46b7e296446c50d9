-- Retention: what sessions said is erased when it is old, what happened stays. The digests of the chain stay too, so
-- that the log still verifies; a row here says, sealed with the instance's key, that the content was taken out on purpose.

CREATE TABLE erasures (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    -- The whole log of a final session: events 1 to head_sequence.
    head_sequence INTEGER NOT NULL,
    head_digest BLOB NOT NULL,
    -- Sessions that ended before this were due.
    older_than INTEGER NOT NULL,
    begun_at INTEGER NOT NULL,
    seal BLOB NOT NULL,
    -- Null while it is under way: a run that was stopped is continued by the next.
    finished_at INTEGER,
    CONSTRAINT erasures_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT erasures_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER erasures_stay BEFORE UPDATE ON erasures
WHEN OLD.finished_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.session_id <> OLD.session_id
    OR NEW.head_sequence <> OLD.head_sequence OR NEW.head_digest <> OLD.head_digest OR NEW.older_than <> OLD.older_than
    OR NEW.begun_at <> OLD.begun_at OR NEW.seal <> OLD.seal
BEGIN SELECT RAISE(ABORT, 'an erasure is recorded once'); END;
CREATE TRIGGER erasures_no_delete BEFORE DELETE ON erasures
BEGIN SELECT RAISE(ABORT, 'erasures are kept'); END;

-- An event changes in one way: its content goes, while an erasure of its session is under way.
DROP TRIGGER session_events_no_update;
CREATE TRIGGER session_events_no_update BEFORE UPDATE ON session_events
WHEN NOT (NEW.content = '[]' AND NEW.metadata = '{}'
    AND NEW.tenant_id = OLD.tenant_id AND NEW.session_id = OLD.session_id AND NEW.sequence = OLD.sequence
    AND NEW.event_id = OLD.event_id AND NEW.event_type = OLD.event_type AND NEW.role = OLD.role
    AND NEW.thread_id IS OLD.thread_id AND NEW.external_event_id IS OLD.external_event_id AND NEW.attempt IS OLD.attempt
    AND NEW.actor = OLD.actor AND NEW.at = OLD.at AND NEW.recorded_at = OLD.recorded_at
    AND NEW.body_digest = OLD.body_digest AND NEW.digest = OLD.digest
    AND EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id
        AND OLD.sequence <= e.head_sequence AND e.finished_at IS NULL))
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;

DROP TRIGGER gates_task_stays;
CREATE TRIGGER gates_task_stays BEFORE UPDATE OF task, task_digest, kind, session_id ON gates
WHEN NOT (NEW.task_digest = OLD.task_digest AND NEW.kind = OLD.kind AND NEW.session_id = OLD.session_id
    AND EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.finished_at IS NULL))
BEGIN SELECT RAISE(ABORT, 'what a gate shows does not change'); END;

DROP TRIGGER gate_decisions_no_update;
CREATE TRIGGER gate_decisions_no_update BEFORE UPDATE ON gate_decisions
WHEN NOT (NEW.value IS NULL AND NEW.note IS NULL
    AND NEW.tenant_id = OLD.tenant_id AND NEW.gate_id = OLD.gate_id AND NEW.number = OLD.number AND NEW.user_id IS OLD.user_id
    AND NEW.actor = OLD.actor AND NEW.verdict IS OLD.verdict AND NEW.undoes IS OLD.undoes
    AND NEW.value_digest = OLD.value_digest AND NEW.at = OLD.at
    AND EXISTS (SELECT 1 FROM gates g JOIN erasures e ON e.tenant_id = g.tenant_id AND e.session_id = g.session_id
        WHERE g.tenant_id = OLD.tenant_id AND g.id = OLD.gate_id AND e.finished_at IS NULL))
BEGIN SELECT RAISE(ABORT, 'gate_decisions is append-only'); END;

DROP TRIGGER session_failures_kept;
CREATE TRIGGER session_failures_kept BEFORE UPDATE ON session_failures
WHEN (OLD.acknowledged_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.id <> OLD.id OR NEW.session_id <> OLD.session_id
    OR NEW.code <> OLD.code OR NEW.message <> OLD.message OR NEW.remediation <> OLD.remediation OR NEW.at <> OLD.at)
    AND NOT (NEW.tenant_id = OLD.tenant_id AND NEW.id = OLD.id AND NEW.session_id = OLD.session_id AND NEW.code = OLD.code
        AND NEW.remediation = OLD.remediation AND NEW.at = OLD.at AND NEW.acknowledged_by IS OLD.acknowledged_by
        AND NEW.acknowledged_at IS OLD.acknowledged_at
        AND EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.finished_at IS NULL))
BEGIN SELECT RAISE(ABORT, 'a failure is recorded once'); END;
