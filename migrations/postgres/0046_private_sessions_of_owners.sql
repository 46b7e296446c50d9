-- Repeats the update of 0021, which runs without app.system: an owner of the tables that is neither a superuser nor has
-- BYPASSRLS saw no row there, so that old incognito sessions stayed visible to everybody.
SELECT set_config('app.system', 'on', true);
UPDATE sessions SET channel = NULL, private_to = (
    WITH RECURSIVE up (parent_id, created_by) AS (
        SELECT own.parent_id, own.created_by FROM sessions own
        WHERE own.tenant_id = sessions.tenant_id AND own.id = sessions.id
        UNION ALL
        SELECT p.parent_id, p.created_by FROM sessions p JOIN up ON p.id = up.parent_id
        WHERE p.tenant_id = sessions.tenant_id
    )
    SELECT created_by FROM up WHERE parent_id IS NULL LIMIT 1
) WHERE private_to IS NULL AND metadata LIKE '%"incognito":true%';
SELECT set_config('app.system', 'off', true);
