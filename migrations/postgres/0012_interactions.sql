-- Prompts and answers of agents, and what became of them.

-- Turns that ended and are not captured yet. Written in the transaction that ends the turn; removed when its record is kept.
-- due_at is also the lease: taking a row moves it on. status: that with which the turn ended.
CREATE TABLE captures_due (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    sequence bigint NOT NULL,
    status text NOT NULL,
    ended_at bigint NOT NULL,
    due_at bigint NOT NULL,
    CONSTRAINT captures_due_pk PRIMARY KEY (tenant_id, session_id, sequence)
);
CREATE INDEX captures_due_by_time ON captures_due (due_at);

-- The three streams. record: the line, as it stands in the files of the data lake. Ids are made from what a line is about
-- and when, so that the same line twice is one row. They begin with the time, so their order is that of time.
CREATE TABLE interactions (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    recorded_at bigint NOT NULL,
    record text NOT NULL,
    CONSTRAINT interactions_pk PRIMARY KEY (tenant_id, id)
);
CREATE INDEX interactions_by_session ON interactions (tenant_id, session_id, id);
CREATE TABLE interaction_feedback (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    interaction_id uuid NOT NULL,
    recorded_at bigint NOT NULL,
    feedback text NOT NULL,
    source text NOT NULL,
    record text NOT NULL,
    CONSTRAINT interaction_feedback_pk PRIMARY KEY (tenant_id, id)
);
CREATE INDEX interaction_feedback_by_session ON interaction_feedback (tenant_id, session_id);
CREATE INDEX interaction_feedback_latest ON interaction_feedback (tenant_id, interaction_id, recorded_at, id);
CREATE TABLE interaction_outcomes (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    interaction_id uuid NOT NULL,
    recorded_at bigint NOT NULL,
    outcome text NOT NULL,
    record text NOT NULL,
    CONSTRAINT interaction_outcomes_pk PRIMARY KEY (tenant_id, id)
);
CREATE INDEX interaction_outcomes_by_session ON interaction_outcomes (tenant_id, session_id);
CREATE INDEX interaction_outcomes_latest ON interaction_outcomes (tenant_id, interaction_id, recorded_at, id);

-- Rows of the queue come and go.
ALTER TABLE captures_due SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Only retention takes lines away, while an erasure of their session is under way.
CREATE FUNCTION shiftbook_interaction_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF shiftbook_being_erased(OLD.tenant_id, OLD.session_id, 0) THEN RETURN OLD; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER interactions_no_delete BEFORE DELETE ON interactions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_interaction_stays();
CREATE TRIGGER interaction_feedback_no_delete BEFORE DELETE ON interaction_feedback
    FOR EACH ROW EXECUTE FUNCTION shiftbook_interaction_stays();
CREATE TRIGGER interaction_outcomes_no_delete BEFORE DELETE ON interaction_outcomes
    FOR EACH ROW EXECUTE FUNCTION shiftbook_interaction_stays();

GRANT SELECT, INSERT ON interactions, interaction_feedback, interaction_outcomes TO shiftbook_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON captures_due TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['interactions', 'interaction_feedback', 'interaction_outcomes'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse()',
            t || '_no_update', t);
        EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse()',
            t || '_no_truncate', t);
    END LOOP;
    FOREACH t IN ARRAY ARRAY['captures_due', 'interactions', 'interaction_feedback', 'interaction_outcomes'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
