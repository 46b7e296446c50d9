-- An entity can be erased: its title and values, and those of all its versions. Its tombstone stays: the id, the type, and
-- who wrote each version and when. erased_at: when it was erased; updated_by is who erased it.
ALTER TABLE entities ADD COLUMN erased_at INTEGER;
CREATE TRIGGER entities_erased_whole BEFORE UPDATE ON entities
WHEN NEW.erased_at IS NOT NULL AND (OLD.erased_at IS NOT NULL OR NEW.title <> '(erased)' OR NEW.fields <> '{}')
BEGIN SELECT RAISE(ABORT, 'an erased entity has no content and does not change'); END;
CREATE TRIGGER entities_erased_stays BEFORE UPDATE ON entities
WHEN OLD.erased_at IS NOT NULL AND NEW.erased_at IS NULL
BEGIN SELECT RAISE(ABORT, 'an erased entity stays erased'); END;

-- A version changes in one way: its content is erased with its entity.
DROP TRIGGER entity_versions_no_update;
CREATE TRIGGER entity_versions_no_update BEFORE UPDATE ON entity_versions
WHEN NOT (NEW.title = '(erased)' AND NEW.fields = '{}'
    AND NEW.tenant_id = OLD.tenant_id AND NEW.entity_id = OLD.entity_id AND NEW.version = OLD.version
    AND NEW.actor = OLD.actor AND NEW.session_id IS OLD.session_id AND NEW.at = OLD.at
    AND EXISTS (SELECT 1 FROM entities e WHERE e.tenant_id = OLD.tenant_id AND e.id = OLD.entity_id
        AND e.erased_at IS NOT NULL))
BEGIN SELECT RAISE(ABORT, 'entity_versions is append-only'); END;

-- The responses of a lead, and the answers to questions that are responses.
CREATE INDEX responses_by_lead ON responses (tenant_id, lead_entity_id) WHERE lead_entity_id IS NOT NULL;
CREATE INDEX request_answers_by_response ON request_answers (tenant_id, response_session_id)
    WHERE response_session_id IS NOT NULL;

-- The copy of a response that a question has is erased with the response or with the question, and the name of a lead
-- with the lead.
DROP TRIGGER request_answers_stay;
CREATE TRIGGER request_answers_stay BEFORE UPDATE ON request_answers
WHEN NOT (NEW.tenant_id = OLD.tenant_id AND NEW.id = OLD.id AND NEW.request_id = OLD.request_id AND NEW.session_id = OLD.session_id
    AND NEW.response_session_id IS OLD.response_session_id AND NEW.respondent_kind = OLD.respondent_kind
    AND NEW.respondent = OLD.respondent AND NEW.respondent_user IS OLD.respondent_user AND NEW.outcome = OLD.outcome
    AND NEW.digest = OLD.digest AND NEW.late = OLD.late AND NEW.deposited_at = OLD.deposited_at
    AND (OLD.consumed_at IS NULL OR NEW.consumed_at IS OLD.consumed_at
        AND NEW.consumed_attempt IS OLD.consumed_attempt AND NEW.consumed_by_call IS OLD.consumed_by_call)
    AND (NEW.answers IS OLD.answers AND NEW.note IS OLD.note
            AND (NEW.respondent_label IS OLD.respondent_label
                OR NEW.respondent_label IS NULL AND EXISTS (SELECT 1 FROM responses r
                    JOIN entities e ON e.tenant_id = r.tenant_id AND e.id = r.lead_entity_id
                    WHERE r.tenant_id = OLD.tenant_id AND r.session_id = OLD.response_session_id
                        AND e.erased_at IS NOT NULL))
        OR EXISTS (SELECT 1 FROM erasures e WHERE e.tenant_id = OLD.tenant_id
            AND e.session_id IN (OLD.session_id, OLD.response_session_id) AND e.finished_at IS NULL)))
BEGIN SELECT RAISE(ABORT, 'an answer does not change, and is taken once'); END;
