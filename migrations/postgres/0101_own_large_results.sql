-- A transaction of a person without an account reads the large result of its own session alone, as it reads the log of
-- its own session alone: the result of the session whose question it answers is not for it. It writes no result.
DROP POLICY session_results_of_no_respondent ON session_results;
CREATE POLICY session_results_read_by_respondent ON session_results AS RESTRICTIVE FOR SELECT
    USING (shiftbook_respondent() IS NULL OR shiftbook_owns_session(tenant_id, session_id));
CREATE POLICY session_results_added_by_no_respondent ON session_results AS RESTRICTIVE FOR INSERT
    WITH CHECK (shiftbook_respondent() IS NULL);
CREATE POLICY session_results_changed_by_no_respondent ON session_results AS RESTRICTIVE FOR UPDATE
    USING (shiftbook_respondent() IS NULL);
CREATE POLICY session_results_removed_by_no_respondent ON session_results AS RESTRICTIVE FOR DELETE
    USING (shiftbook_respondent() IS NULL);
