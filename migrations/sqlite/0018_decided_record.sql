-- A decision keeps the version of its gate's record at that instant: what was decided is shown against what the record
-- was then. Null for decisions that were recorded before, and where there is no record.
ALTER TABLE gate_decisions ADD COLUMN entity_version INTEGER;

DROP TRIGGER gate_decisions_no_update;
CREATE TRIGGER gate_decisions_no_update BEFORE UPDATE ON gate_decisions
WHEN NOT (NEW.value IS NULL AND NEW.note IS NULL
    AND NEW.tenant_id = OLD.tenant_id AND NEW.gate_id = OLD.gate_id AND NEW.number = OLD.number
    AND NEW.user_id IS OLD.user_id AND NEW.actor = OLD.actor AND NEW.verdict IS OLD.verdict AND NEW.undoes IS OLD.undoes
    AND NEW.value_digest = OLD.value_digest AND NEW.at = OLD.at AND NEW.entity_version IS OLD.entity_version
    AND EXISTS (SELECT 1 FROM gates g JOIN erasures e ON e.tenant_id = g.tenant_id AND e.session_id = g.session_id
        WHERE g.tenant_id = OLD.tenant_id AND g.id = OLD.gate_id AND e.finished_at IS NULL))
BEGIN SELECT RAISE(ABORT, 'gate_decisions is append-only'); END;
