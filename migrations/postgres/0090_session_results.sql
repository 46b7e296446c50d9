-- Results of more than 256 KiB, apart from the rows that lists read. sessions.result is then the empty text, which is no
-- JSON.
CREATE TABLE session_results (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    result text NOT NULL,
    CONSTRAINT session_results_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT session_results_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);

-- A result never changes. Only retention deletes one, with the rights of the tables' owner.
GRANT SELECT, INSERT ON session_results TO shiftbook_app;
ALTER TABLE session_results ENABLE ROW LEVEL SECURITY;
ALTER TABLE session_results FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace. Whoever opened a link reads the result of the
-- session that it shows, whose row says whether it may be seen.
CREATE POLICY session_results_of_tenant ON session_results
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system() OR shiftbook_shares(tenant_id, session_id))
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY session_results_of_no_respondent ON session_results AS RESTRICTIVE
    USING (shiftbook_respondent() IS NULL);
CREATE POLICY session_results_removed_by_no_reader ON session_results AS RESTRICTIVE FOR DELETE
    USING (shiftbook_shared_link() IS NULL);
