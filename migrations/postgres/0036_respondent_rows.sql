-- A transaction for a person without an account sets app.respondent. It sees and writes the rows of its own response,
-- and of the session whose question it answers (app.asking_session), and none of anyone else.

CREATE FUNCTION shiftbook_respondent() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('app.respondent', true), '') $$;
CREATE FUNCTION shiftbook_asking_session() RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS $$ SELECT nullif(current_setting('app.asking_session', true), '')::uuid $$;
-- Whether the transaction may see a session or a gate. Their policies apply inside, because these are functions of the
-- caller. Functions keep the plans of all other transactions free of a subquery.
CREATE FUNCTION shiftbook_sees_session(tenant uuid, session uuid) RETURNS boolean LANGUAGE sql STABLE COST 1
    AS $$ SELECT EXISTS (SELECT 1 FROM sessions s WHERE s.tenant_id = tenant AND s.id = session) $$;
CREATE FUNCTION shiftbook_sees_gate(tenant uuid, gate uuid) RETURNS boolean LANGUAGE sql STABLE COST 1
    AS $$ SELECT EXISTS (SELECT 1 FROM gates g WHERE g.tenant_id = tenant AND g.id = gate) $$;

CREATE POLICY sessions_of_respondent ON sessions AS RESTRICTIVE USING (
    (SELECT shiftbook_respondent()) IS NULL
    OR created_by = 'respondent:' || (SELECT shiftbook_respondent())
    OR id = (SELECT shiftbook_asking_session())
);
CREATE POLICY session_events_of_respondent ON session_events AS RESTRICTIVE USING (
    (SELECT shiftbook_respondent()) IS NULL OR shiftbook_sees_session(tenant_id, session_id)
);
CREATE POLICY feedback_requests_of_respondent ON feedback_requests AS RESTRICTIVE USING (
    (SELECT shiftbook_respondent()) IS NULL OR session_id = (SELECT shiftbook_asking_session())
);
CREATE POLICY request_answers_of_respondent ON request_answers AS RESTRICTIVE USING (
    (SELECT shiftbook_respondent()) IS NULL OR session_id = (SELECT shiftbook_asking_session())
);
CREATE POLICY gates_of_respondent ON gates AS RESTRICTIVE USING (
    (SELECT shiftbook_respondent()) IS NULL OR session_id = (SELECT shiftbook_asking_session())
);
CREATE POLICY gate_decisions_of_respondent ON gate_decisions AS RESTRICTIVE USING (
    (SELECT shiftbook_respondent()) IS NULL OR shiftbook_sees_gate(tenant_id, gate_id)
);
CREATE POLICY gate_reviewers_of_respondent ON gate_reviewers AS RESTRICTIVE USING (
    (SELECT shiftbook_respondent()) IS NULL OR shiftbook_sees_gate(tenant_id, gate_id)
);

-- No answer to a form needs these.
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['access_links', 'api_tokens', 'browser_sessions', 'entity_imports', 'erasures', 'export_jobs',
        'gate_snoozes', 'interaction_feedback', 'interaction_outcomes', 'interactions', 'memory_agents', 'memory_cards',
        'memory_denials', 'memory_documents', 'memory_runs', 'memory_search', 'memory_versions', 'memory_watermarks',
        'memory_writers', 'memory_words', 'memory_channels', 'memory_card_drafts',
        'memory_forgotten'] LOOP
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING ((SELECT shiftbook_respondent()) IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;
