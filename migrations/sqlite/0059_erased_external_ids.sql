-- The id that an event has in the system it came from can name a person. Retention erases it with the content. The
-- digests of the log cover it, so they no longer follow from the fields of such an event. events_digest, which the seal
-- covers, does: it is the digest of the events as retention leaves them, each with its recorded digest. Null for erasures
-- of earlier versions, which kept these ids.
ALTER TABLE erasures ADD COLUMN events_digest BLOB;
DROP TRIGGER erasures_stay;
CREATE TRIGGER erasures_stay BEFORE UPDATE ON erasures
WHEN OLD.finished_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.session_id <> OLD.session_id
    OR NEW.head_sequence <> OLD.head_sequence OR NEW.head_digest <> OLD.head_digest OR NEW.older_than <> OLD.older_than
    OR NEW.begun_at <> OLD.begun_at OR NEW.seal <> OLD.seal OR NEW.row_digest IS NOT OLD.row_digest
    OR NEW.events_digest IS NOT OLD.events_digest
BEGIN SELECT RAISE(ABORT, 'an erasure is recorded once'); END;

DROP TRIGGER session_events_no_update;
CREATE TRIGGER session_events_no_update BEFORE UPDATE ON session_events
WHEN NOT (NEW.content = '[]' AND NEW.metadata = '{}'
    AND NEW.tenant_id = OLD.tenant_id AND NEW.session_id = OLD.session_id AND NEW.sequence = OLD.sequence
    AND NEW.event_id = OLD.event_id AND NEW.event_type = OLD.event_type AND NEW.role = OLD.role
    AND NEW.thread_id IS OLD.thread_id AND NEW.attempt IS OLD.attempt
    AND NEW.actor = OLD.actor AND NEW.at = OLD.at AND NEW.recorded_at = OLD.recorded_at
    AND NEW.body_digest = OLD.body_digest AND NEW.digest = OLD.digest
    AND EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id
        AND OLD.sequence <= e.head_sequence AND e.finished_at IS NULL
        AND (NEW.external_event_id IS OLD.external_event_id
            OR NEW.external_event_id IS NULL AND e.events_digest IS NOT NULL)))
BEGIN SELECT RAISE(ABORT, 'session_events is append-only'); END;
