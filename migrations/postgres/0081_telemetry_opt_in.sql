-- Whether a workspace shares numbers about the usefulness of memories for training.

-- enabled: the answer; NULL if nobody has answered. installed_at: from when the seven days count in which agents ask.
CREATE TABLE telemetry_opt_in (
    tenant_id uuid NOT NULL,
    enabled boolean,
    last_prompted_at bigint,
    installed_at bigint NOT NULL,
    CONSTRAINT telemetry_opt_in_pk PRIMARY KEY (tenant_id),
    CONSTRAINT telemetry_opt_in_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

GRANT SELECT, INSERT, UPDATE ON telemetry_opt_in TO shiftbook_app;
ALTER TABLE telemetry_opt_in ENABLE ROW LEVEL SECURITY;
ALTER TABLE telemetry_opt_in FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY telemetry_opt_in_of_tenant ON telemetry_opt_in
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY telemetry_opt_in_of_no_respondent ON telemetry_opt_in AS RESTRICTIVE
    USING (shiftbook_respondent() IS NULL);
