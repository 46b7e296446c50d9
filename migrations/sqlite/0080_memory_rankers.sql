-- Models that order the memories of a workspace, with what they were measured to be worth.

-- refusal: why the model may not be used; NULL if it may. in_use: the model that orders memories now; without one the
-- formula alone does. model: in the form of the crate `ranker`. No row has a text of a person.
CREATE TABLE memory_rankers (
    tenant_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    samples INTEGER NOT NULL,
    sessions INTEGER NOT NULL,
    sessions_measured INTEGER NOT NULL,
    prompts_measured INTEGER NOT NULL,
    alpha REAL NOT NULL,
    formula_ndcg5 REAL NOT NULL,
    model_ndcg5 REAL NOT NULL,
    formula_recall8 REAL NOT NULL,
    model_recall8 REAL NOT NULL,
    formula_calibration REAL NOT NULL,
    model_calibration REAL NOT NULL,
    gain REAL NOT NULL,
    gain_low REAL NOT NULL,
    gain_high REAL NOT NULL,
    refusal TEXT,
    in_use INTEGER NOT NULL,
    model BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    CONSTRAINT memory_rankers_pk PRIMARY KEY (tenant_id, version),
    CONSTRAINT memory_rankers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id),
    CONSTRAINT memory_rankers_usable CHECK (refusal IS NULL OR in_use = 0)
) STRICT;
CREATE UNIQUE INDEX memory_rankers_in_use ON memory_rankers (tenant_id) WHERE in_use = 1;
