-- The idempotency key of the call that took an answer; NULL if a claim took it. A repeat of the call, whose response was
-- lost, gets the same answers again.
ALTER TABLE request_answers ADD COLUMN consumed_by_call text
    CONSTRAINT request_answers_call_consumed CHECK (consumed_by_call IS NULL OR consumed_at IS NOT NULL);

CREATE OR REPLACE FUNCTION shiftbook_answer_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.tenant_id = OLD.tenant_id AND NEW.id = OLD.id AND NEW.request_id = OLD.request_id AND NEW.session_id = OLD.session_id
        AND NEW.response_session_id IS NOT DISTINCT FROM OLD.response_session_id AND NEW.respondent_kind = OLD.respondent_kind
        AND NEW.respondent = OLD.respondent AND NEW.respondent_user IS NOT DISTINCT FROM OLD.respondent_user
        AND NEW.outcome = OLD.outcome AND NEW.digest = OLD.digest AND NEW.late = OLD.late AND NEW.deposited_at = OLD.deposited_at
        AND (OLD.consumed_at IS NULL OR NEW.consumed_at IS NOT DISTINCT FROM OLD.consumed_at
            AND NEW.consumed_attempt IS NOT DISTINCT FROM OLD.consumed_attempt
            AND NEW.consumed_by_call IS NOT DISTINCT FROM OLD.consumed_by_call)
        AND (NEW.answers IS NOT DISTINCT FROM OLD.answers AND NEW.note IS NOT DISTINCT FROM OLD.note
            AND NEW.respondent_label IS NOT DISTINCT FROM OLD.respondent_label
            OR shiftbook_being_erased(OLD.tenant_id, OLD.session_id, 0))
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'an answer does not change, and is taken once' USING ERRCODE = 'restrict_violation';
END $$;
