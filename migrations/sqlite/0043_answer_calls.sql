-- The idempotency key of the call that took an answer; NULL if a claim took it. A repeat of the call, whose response was
-- lost, gets the same answers again.
ALTER TABLE request_answers ADD COLUMN consumed_by_call TEXT
    CONSTRAINT request_answers_call_consumed CHECK (consumed_by_call IS NULL OR consumed_at IS NOT NULL);

DROP TRIGGER request_answers_stay;
CREATE TRIGGER request_answers_stay BEFORE UPDATE ON request_answers
WHEN NOT (NEW.tenant_id = OLD.tenant_id AND NEW.id = OLD.id AND NEW.request_id = OLD.request_id AND NEW.session_id = OLD.session_id
    AND NEW.response_session_id IS OLD.response_session_id AND NEW.respondent_kind = OLD.respondent_kind
    AND NEW.respondent = OLD.respondent AND NEW.respondent_user IS OLD.respondent_user AND NEW.outcome = OLD.outcome
    AND NEW.digest = OLD.digest AND NEW.late = OLD.late AND NEW.deposited_at = OLD.deposited_at
    AND (OLD.consumed_at IS NULL OR NEW.consumed_at IS OLD.consumed_at
        AND NEW.consumed_attempt IS OLD.consumed_attempt AND NEW.consumed_by_call IS OLD.consumed_by_call)
    AND (NEW.answers IS OLD.answers AND NEW.note IS OLD.note AND NEW.respondent_label IS OLD.respondent_label
        OR EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = OLD.tenant_id AND e.session_id = OLD.session_id
            AND e.finished_at IS NULL)))
BEGIN SELECT RAISE(ABORT, 'an answer does not change, and is taken once'); END;
