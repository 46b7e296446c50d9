-- Models that order the memories of a workspace, with what they were measured to be worth.

-- refusal: why the model may not be used; NULL if it may. in_use: the model that orders memories now; without one the
-- formula alone does. model: in the form of the crate `ranker`. No row has a text of a person.
CREATE TABLE memory_rankers (
    tenant_id uuid NOT NULL,
    version bigint NOT NULL,
    seed bigint NOT NULL,
    samples bigint NOT NULL,
    sessions bigint NOT NULL,
    sessions_measured bigint NOT NULL,
    prompts_measured bigint NOT NULL,
    alpha double precision NOT NULL,
    formula_ndcg5 double precision NOT NULL,
    model_ndcg5 double precision NOT NULL,
    formula_recall8 double precision NOT NULL,
    model_recall8 double precision NOT NULL,
    formula_calibration double precision NOT NULL,
    model_calibration double precision NOT NULL,
    gain double precision NOT NULL,
    gain_low double precision NOT NULL,
    gain_high double precision NOT NULL,
    refusal text,
    in_use boolean NOT NULL,
    model bytea NOT NULL,
    created_at bigint NOT NULL,
    CONSTRAINT memory_rankers_pk PRIMARY KEY (tenant_id, version),
    CONSTRAINT memory_rankers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT memory_rankers_usable CHECK (refusal IS NULL OR NOT in_use)
);
CREATE UNIQUE INDEX memory_rankers_in_use ON memory_rankers (tenant_id) WHERE in_use;

GRANT SELECT, INSERT, UPDATE, DELETE ON memory_rankers TO shiftbook_app;
ALTER TABLE memory_rankers ENABLE ROW LEVEL SECURITY;
ALTER TABLE memory_rankers FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY memory_rankers_of_tenant ON memory_rankers
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY memory_rankers_of_no_respondent ON memory_rankers AS RESTRICTIVE USING (shiftbook_respondent() IS NULL);
