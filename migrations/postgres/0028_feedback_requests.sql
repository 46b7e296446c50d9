-- Requests of agents that people answer, and the answers.

-- access: none, lead or member: what somebody must do before the form opens. gate_id: the question at which the session
-- waits; null unless it waits. digest: of what was asked, so that a repeat with the same key is known.
CREATE TABLE feedback_requests (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    session_id uuid NOT NULL,
    attempt bigint NOT NULL,
    gate_id uuid,
    view_id uuid NOT NULL,
    version bigint NOT NULL,
    message text NOT NULL,
    blocking boolean NOT NULL,
    access text NOT NULL,
    audience text,
    asked_by text NOT NULL,
    asked_at bigint NOT NULL,
    expires_at bigint,
    on_expiry text NOT NULL,
    idempotency_key text NOT NULL,
    digest bytea NOT NULL,
    state text NOT NULL,
    closed_at bigint,
    CONSTRAINT feedback_requests_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT feedback_requests_key_unique UNIQUE (tenant_id, session_id, idempotency_key),
    CONSTRAINT feedback_requests_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT feedback_requests_view_fk FOREIGN KEY (tenant_id, view_id, version) REFERENCES view_versions (tenant_id, view_id, version),
    CONSTRAINT feedback_requests_access_known CHECK (access IN ('none', 'lead', 'member')),
    CONSTRAINT feedback_requests_on_expiry_known CHECK (on_expiry IN ('resume', 'fail')),
    CONSTRAINT feedback_requests_state_known CHECK (state IN ('waiting', 'answered', 'expired', 'cancelled')),
    CONSTRAINT feedback_requests_whole CHECK ((state = 'waiting') = (closed_at IS NULL))
);
CREATE INDEX feedback_requests_of_gate ON feedback_requests (tenant_id, gate_id) WHERE gate_id IS NOT NULL;
-- Those for which no session waits. A gate has its own deadline.
CREATE INDEX feedback_requests_to_expire ON feedback_requests (expires_at)
    WHERE state = 'waiting' AND NOT blocking AND expires_at IS NOT NULL;
CREATE FUNCTION shiftbook_request_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'a closed request stays closed' USING ERRCODE = 'restrict_violation'; END $$;
CREATE TRIGGER feedback_requests_closed_stays BEFORE UPDATE OF state ON feedback_requests FOR EACH ROW
    WHEN (OLD.state <> 'waiting' AND NEW.state <> OLD.state) EXECUTE FUNCTION shiftbook_request_stays();
CREATE TRIGGER feedback_requests_no_delete BEFORE DELETE ON feedback_requests
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER feedback_requests_no_truncate BEFORE TRUNCATE ON feedback_requests
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

-- session_id: the session that asked. respondent: tells respondents of one request apart. late: it came when the request
-- was closed, and never reaches the agent. consumed_at, consumed_attempt: the claim that took it.
CREATE TABLE request_answers (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    request_id uuid NOT NULL,
    session_id uuid NOT NULL,
    response_session_id uuid,
    respondent_kind text NOT NULL,
    respondent text NOT NULL,
    respondent_user uuid,
    respondent_label text,
    outcome text NOT NULL,
    answers text,
    note text,
    digest bytea NOT NULL,
    late boolean NOT NULL,
    deposited_at bigint NOT NULL,
    consumed_at bigint,
    consumed_attempt bigint,
    CONSTRAINT request_answers_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT request_answers_once UNIQUE (tenant_id, request_id, respondent),
    CONSTRAINT request_answers_request_fk FOREIGN KEY (tenant_id, request_id) REFERENCES feedback_requests (tenant_id, id),
    CONSTRAINT request_answers_kind_known CHECK (respondent_kind IN ('user', 'lead', 'browser', 'token', 'system')),
    CONSTRAINT request_answers_outcome_known CHECK (outcome IN ('answered', 'declined', 'cancelled', 'nobody_answered')),
    CONSTRAINT request_answers_consumed_whole CHECK ((consumed_at IS NULL) = (consumed_attempt IS NULL)),
    CONSTRAINT request_answers_late_stays CHECK (NOT late OR consumed_at IS NULL)
);
CREATE INDEX request_answers_of_session ON request_answers (tenant_id, session_id, deposited_at, id);
CREATE INDEX request_answers_unconsumed ON request_answers (tenant_id, session_id, deposited_at, id)
    WHERE consumed_at IS NULL AND NOT late;
-- An answer is taken once. Retention takes its words out.
CREATE FUNCTION shiftbook_answer_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.tenant_id = OLD.tenant_id AND NEW.id = OLD.id AND NEW.request_id = OLD.request_id AND NEW.session_id = OLD.session_id
        AND NEW.response_session_id IS NOT DISTINCT FROM OLD.response_session_id AND NEW.respondent_kind = OLD.respondent_kind
        AND NEW.respondent = OLD.respondent AND NEW.respondent_user IS NOT DISTINCT FROM OLD.respondent_user
        AND NEW.outcome = OLD.outcome AND NEW.digest = OLD.digest AND NEW.late = OLD.late AND NEW.deposited_at = OLD.deposited_at
        AND (OLD.consumed_at IS NULL OR NEW.consumed_at IS NOT DISTINCT FROM OLD.consumed_at
            AND NEW.consumed_attempt IS NOT DISTINCT FROM OLD.consumed_attempt)
        AND (NEW.answers IS NOT DISTINCT FROM OLD.answers AND NEW.note IS NOT DISTINCT FROM OLD.note
            AND NEW.respondent_label IS NOT DISTINCT FROM OLD.respondent_label
            OR shiftbook_being_erased(OLD.tenant_id, OLD.session_id, 0))
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'an answer does not change, and is taken once' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER request_answers_stay BEFORE UPDATE ON request_answers FOR EACH ROW EXECUTE FUNCTION shiftbook_answer_stays();
CREATE TRIGGER request_answers_no_delete BEFORE DELETE ON request_answers
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
CREATE TRIGGER request_answers_no_truncate BEFORE TRUNCATE ON request_answers
    FOR EACH STATEMENT EXECUTE FUNCTION shiftbook_refuse();

GRANT SELECT, INSERT, UPDATE ON feedback_requests, request_answers TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['feedback_requests', 'request_answers'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
