-- Sessions of which no training data is kept: a person who wrote in one is forgotten, or it was asked for this session.
-- What was captured is deleted in the transaction that adds the row, and nothing of the session is captured after it.
CREATE TABLE captures_forgotten (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    forgotten_at bigint NOT NULL,
    CONSTRAINT captures_forgotten_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT captures_forgotten_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);

-- Lines go only while an erasure of their session is under way, or when their session is forgotten.
CREATE OR REPLACE FUNCTION shiftbook_interaction_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF shiftbook_being_erased(OLD.tenant_id, OLD.session_id, 0)
        OR EXISTS (SELECT 1 FROM captures_forgotten f
            WHERE f.tenant_id = OLD.tenant_id AND f.session_id = OLD.session_id)
    THEN RETURN OLD; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;

GRANT SELECT ON captures_forgotten TO shiftbook_app;
ALTER TABLE captures_forgotten ENABLE ROW LEVEL SECURITY;
ALTER TABLE captures_forgotten FORCE ROW LEVEL SECURITY;
CREATE POLICY captures_forgotten_of_tenant ON captures_forgotten
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
CREATE POLICY captures_forgotten_of_no_respondent ON captures_forgotten AS RESTRICTIVE
    USING ((SELECT shiftbook_respondent()) IS NULL);
