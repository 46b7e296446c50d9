-- The digest of the session's row as retention leaves it, covered by the seal: what is kept of an erased session still
-- verifies. Null for erasures that were begun before this column was there.
ALTER TABLE erasures ADD COLUMN row_digest BLOB;
DROP TRIGGER erasures_stay;
CREATE TRIGGER erasures_stay BEFORE UPDATE ON erasures
WHEN OLD.finished_at IS NOT NULL OR NEW.tenant_id <> OLD.tenant_id OR NEW.session_id <> OLD.session_id
    OR NEW.head_sequence <> OLD.head_sequence OR NEW.head_digest <> OLD.head_digest OR NEW.older_than <> OLD.older_than
    OR NEW.begun_at <> OLD.begun_at OR NEW.seal <> OLD.seal OR NEW.row_digest IS NOT OLD.row_digest
BEGIN SELECT RAISE(ABORT, 'an erasure is recorded once'); END;
