-- The key of the request that created an action, after its caller, and the digest of the request. A repeat, whose first
-- response was lost, gets the action that was created. NULL if the request had no key.
ALTER TABLE actions ADD COLUMN creation_key text;
ALTER TABLE actions ADD COLUMN creation_digest bytea;
CREATE UNIQUE INDEX actions_creation_key ON actions (tenant_id, creation_key) WHERE creation_key IS NOT NULL;

-- A transaction of a person without an account reads the log of its own response alone. It appends to the log of the
-- session whose question it answers, and does not read that log.
CREATE FUNCTION shiftbook_owns_session(tenant uuid, session uuid) RETURNS boolean LANGUAGE sql STABLE COST 1
    AS $$ SELECT EXISTS (SELECT 1 FROM sessions s WHERE s.tenant_id = tenant AND s.id = session
        AND s.created_by = 'respondent:' || shiftbook_respondent()) $$;
DROP POLICY session_events_of_respondent ON session_events;
CREATE POLICY session_events_read_by_respondent ON session_events AS RESTRICTIVE FOR SELECT USING (
    (SELECT shiftbook_respondent()) IS NULL OR shiftbook_owns_session(tenant_id, session_id)
);
CREATE POLICY session_events_added_by_respondent ON session_events AS RESTRICTIVE FOR INSERT WITH CHECK (
    (SELECT shiftbook_respondent()) IS NULL OR shiftbook_sees_session(tenant_id, session_id)
);
CREATE POLICY session_events_changed_by_no_respondent ON session_events AS RESTRICTIVE FOR UPDATE
    USING ((SELECT shiftbook_respondent()) IS NULL);
CREATE POLICY session_events_removed_by_no_respondent ON session_events AS RESTRICTIVE FOR DELETE
    USING ((SELECT shiftbook_respondent()) IS NULL);
