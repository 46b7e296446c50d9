-- Requests of agents that people answer, and the answers.

-- access: none, lead or member: what somebody must do before the form opens. gate_id: the question at which the session
-- waits; null unless it waits. digest: of what was asked, so that a repeat with the same key is known.
CREATE TABLE feedback_requests (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    attempt INTEGER NOT NULL,
    gate_id BLOB,
    view_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    message TEXT NOT NULL,
    blocking INTEGER NOT NULL,
    access TEXT NOT NULL,
    audience TEXT,
    asked_by TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    expires_at INTEGER,
    on_expiry TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    digest BLOB NOT NULL,
    state TEXT NOT NULL,
    closed_at INTEGER,
    CONSTRAINT feedback_requests_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT feedback_requests_key_unique UNIQUE (tenant_id, session_id, idempotency_key),
    CONSTRAINT feedback_requests_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT feedback_requests_view_fk FOREIGN KEY (tenant_id, view_id, version) REFERENCES view_versions (tenant_id, view_id, version),
    CONSTRAINT feedback_requests_access_known CHECK (access IN ('none', 'lead', 'member')),
    CONSTRAINT feedback_requests_on_expiry_known CHECK (on_expiry IN ('resume', 'fail')),
    CONSTRAINT feedback_requests_state_known CHECK (state IN ('waiting', 'answered', 'expired', 'cancelled')),
    CONSTRAINT feedback_requests_whole CHECK ((state = 'waiting') = (closed_at IS NULL))
) STRICT;
CREATE INDEX feedback_requests_of_gate ON feedback_requests (tenant_id, gate_id) WHERE gate_id IS NOT NULL;
-- Those for which no session waits. A gate has its own deadline.
CREATE INDEX feedback_requests_to_expire ON feedback_requests (expires_at)
    WHERE state = 'waiting' AND NOT blocking AND expires_at IS NOT NULL;
CREATE TRIGGER feedback_requests_closed_stays BEFORE UPDATE OF state ON feedback_requests
WHEN OLD.state <> 'waiting' AND NEW.state <> OLD.state
BEGIN SELECT RAISE(ABORT, 'a closed request stays closed'); END;
CREATE TRIGGER feedback_requests_no_delete BEFORE DELETE ON feedback_requests
BEGIN SELECT RAISE(ABORT, 'requests are kept'); END;

-- session_id: the session that asked. respondent: tells respondents of one request apart. late: it came when the request
-- was closed, and never reaches the agent. consumed_at, consumed_attempt: the claim that took it.
CREATE TABLE request_answers (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    request_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    response_session_id BLOB,
    respondent_kind TEXT NOT NULL,
    respondent TEXT NOT NULL,
    respondent_user BLOB,
    respondent_label TEXT,
    outcome TEXT NOT NULL,
    answers TEXT,
    note TEXT,
    digest BLOB NOT NULL,
    late INTEGER NOT NULL,
    deposited_at INTEGER NOT NULL,
    consumed_at INTEGER,
    consumed_attempt INTEGER,
    CONSTRAINT request_answers_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT request_answers_once UNIQUE (tenant_id, request_id, respondent),
    CONSTRAINT request_answers_request_fk FOREIGN KEY (tenant_id, request_id) REFERENCES feedback_requests (tenant_id, id),
    CONSTRAINT request_answers_kind_known CHECK (respondent_kind IN ('user', 'lead', 'browser', 'token', 'system')),
    CONSTRAINT request_answers_outcome_known CHECK (outcome IN ('answered', 'declined', 'cancelled', 'nobody_answered')),
    CONSTRAINT request_answers_consumed_whole CHECK ((consumed_at IS NULL) = (consumed_attempt IS NULL)),
    CONSTRAINT request_answers_late_stays CHECK (NOT late OR consumed_at IS NULL)
) STRICT;
CREATE INDEX request_answers_of_session ON request_answers (tenant_id, session_id, deposited_at, id);
CREATE INDEX request_answers_unconsumed ON request_answers (tenant_id, session_id, deposited_at, id)
    WHERE consumed_at IS NULL AND NOT late;
-- An answer is taken once. Retention takes its words out.
CREATE TRIGGER request_answers_stay BEFORE UPDATE ON request_answers
WHEN NOT (NEW.tenant_id = OLD.tenant_id AND NEW.id = OLD.id AND NEW.request_id = OLD.request_id AND NEW.session_id = OLD.session_id
    AND NEW.response_session_id IS OLD.response_session_id AND NEW.respondent_kind = OLD.respondent_kind
    AND NEW.respondent = OLD.respondent AND NEW.respondent_user IS OLD.respondent_user AND NEW.outcome = OLD.outcome
    AND NEW.digest = OLD.digest AND NEW.late = OLD.late AND NEW.deposited_at = OLD.deposited_at
    AND (OLD.consumed_at IS NULL
        OR NEW.consumed_at IS OLD.consumed_at AND NEW.consumed_attempt IS OLD.consumed_attempt)
    AND (NEW.answers IS OLD.answers AND NEW.note IS OLD.note AND NEW.respondent_label IS OLD.respondent_label
        OR EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id
            AND e.finished_at IS NULL)))
BEGIN SELECT RAISE(ABORT, 'an answer does not change, and is taken once'); END;
CREATE TRIGGER request_answers_no_delete BEFORE DELETE ON request_answers
BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
