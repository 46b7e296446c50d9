-- Who alone may know of a session: whoever began an incognito conversation, as in created_by. Its children have the same.
ALTER TABLE sessions ADD COLUMN private_to TEXT;
UPDATE sessions SET private_to = (
    WITH RECURSIVE up (parent_id, created_by) AS (
        SELECT own.parent_id, own.created_by FROM sessions own WHERE own.tenant_id = sessions.tenant_id AND own.id = sessions.id
        UNION ALL
        SELECT p.parent_id, p.created_by FROM sessions p JOIN up ON p.id = up.parent_id WHERE p.tenant_id = sessions.tenant_id
    )
    SELECT created_by FROM up WHERE parent_id IS NULL LIMIT 1
) WHERE metadata LIKE '%"incognito":true%';
-- Counts by action leave private sessions out and still read no row.
DROP INDEX sessions_by_action;
CREATE INDEX sessions_by_action ON sessions (tenant_id, action_id, status, completed_at, session_type, private_to);
