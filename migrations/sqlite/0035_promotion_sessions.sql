-- The session in which a task makes an entity from a response, if a task does. It waits where the task asks for
-- approval.
ALTER TABLE responses ADD COLUMN promotion_session_id BLOB;
CREATE INDEX responses_by_promotion ON responses (tenant_id, promotion_session_id) WHERE promotion_session_id IS NOT NULL;
