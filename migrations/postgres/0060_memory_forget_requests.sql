-- Members who ask that agents forget them. An admin answers by forgetting the person, which removes the row.
CREATE TABLE memory_forget_requests (
    tenant_id uuid NOT NULL,
    user_id uuid NOT NULL,
    asked_at bigint NOT NULL,
    CONSTRAINT memory_forget_requests_pk PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT memory_forget_requests_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

GRANT SELECT, INSERT, DELETE ON memory_forget_requests TO shiftbook_app;
ALTER TABLE memory_forget_requests ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_forget_requests FORCE ROW LEVEL SECURITY;
CREATE POLICY memory_forget_requests_of_tenant ON memory_forget_requests
    USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
    WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()));
CREATE POLICY memory_forget_requests_of_no_respondent ON memory_forget_requests AS RESTRICTIVE
    USING ((SELECT shiftbook_respondent()) IS NULL);
