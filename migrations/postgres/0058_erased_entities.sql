-- An entity can be erased: its title and values, and those of all its versions. Its tombstone stays: the id, the type, and
-- who wrote each version and when. erased_at: when it was erased; updated_by is who erased it.
ALTER TABLE entities ADD COLUMN erased_at bigint;
CREATE FUNCTION shiftbook_entity_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.erased_at IS NOT NULL OR NEW.title <> '(erased)' OR NEW.fields <> '{}' THEN
        RAISE EXCEPTION 'an erased entity has no content and does not change' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER entities_erased_stays BEFORE UPDATE ON entities
    FOR EACH ROW WHEN (OLD.erased_at IS NOT NULL OR NEW.erased_at IS NOT NULL) EXECUTE FUNCTION shiftbook_entity_stays();

-- A version changes in one way: its content is erased with its entity. The server's role may not even try: it has no
-- right to change this table.
CREATE FUNCTION shiftbook_entity_version_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.title = '(erased)' AND NEW.fields = '{}'
        AND to_jsonb(NEW) - ARRAY['title', 'fields'] = to_jsonb(OLD) - ARRAY['title', 'fields']
        AND EXISTS (SELECT 1 FROM entities e WHERE e.tenant_id = OLD.tenant_id AND e.id = OLD.entity_id
            AND e.erased_at IS NOT NULL)
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
DROP TRIGGER entity_versions_no_update ON entity_versions;
CREATE TRIGGER entity_versions_no_update BEFORE UPDATE ON entity_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_entity_version_stays();
CREATE TRIGGER entity_versions_no_delete BEFORE DELETE ON entity_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();

-- The responses of a lead, and the answers to questions that are responses.
CREATE INDEX responses_by_lead ON responses (tenant_id, lead_entity_id) WHERE lead_entity_id IS NOT NULL;
CREATE INDEX request_answers_by_response ON request_answers (tenant_id, response_session_id)
    WHERE response_session_id IS NOT NULL;

-- The copy of a response that a question has is erased with the response or with the question, and the name of a lead
-- with the lead.
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
                AND (NEW.respondent_label IS NOT DISTINCT FROM OLD.respondent_label
                    OR NEW.respondent_label IS NULL AND EXISTS (SELECT 1 FROM responses r
                        JOIN entities e ON e.tenant_id = r.tenant_id AND e.id = r.lead_entity_id
                        WHERE r.tenant_id = OLD.tenant_id AND r.session_id = OLD.response_session_id
                            AND e.erased_at IS NOT NULL))
            OR shiftbook_being_erased(OLD.tenant_id, OLD.session_id, 0)
            OR OLD.response_session_id IS NOT NULL
                AND shiftbook_being_erased(OLD.tenant_id, OLD.response_session_id, 0))
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION 'an answer does not change, and is taken once' USING ERRCODE = 'restrict_violation';
END $$;
