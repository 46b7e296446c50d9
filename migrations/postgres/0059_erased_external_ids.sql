-- The id that an event has in the system it came from can name a person. Retention erases it with the content. The
-- digests of the log cover it, so they no longer follow from the fields of such an event. events_digest, which the seal
-- covers, does: it is the digest of the events as retention leaves them, each with its recorded digest. Null for erasures
-- of earlier versions, which kept these ids.
ALTER TABLE erasures ADD COLUMN events_digest bytea;
DROP TRIGGER erasures_stay ON erasures;
CREATE TRIGGER erasures_stay BEFORE UPDATE ON erasures FOR EACH ROW
    WHEN (OLD.finished_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.session_id <> OLD.session_id
        OR NEW.head_sequence <> OLD.head_sequence OR NEW.head_digest <> OLD.head_digest OR NEW.older_than <> OLD.older_than
        OR NEW.begun_at <> OLD.begun_at OR NEW.seal <> OLD.seal OR NEW.row_digest IS DISTINCT FROM OLD.row_digest
        OR NEW.events_digest IS DISTINCT FROM OLD.events_digest)
    EXECUTE FUNCTION shiftbook_refuse();

CREATE OR REPLACE FUNCTION shiftbook_event_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.content = '[]' AND NEW.metadata = '{}'
        AND to_jsonb(NEW) - ARRAY['content', 'metadata', 'external_event_id']
            = to_jsonb(OLD) - ARRAY['content', 'metadata', 'external_event_id']
        AND shiftbook_being_erased(OLD.tenant_id, OLD.session_id, OLD.sequence)
        AND (NEW.external_event_id IS NOT DISTINCT FROM OLD.external_event_id
            OR NEW.external_event_id IS NULL AND EXISTS (SELECT 1 FROM erasures e
                WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id AND e.events_digest IS NOT NULL))
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
