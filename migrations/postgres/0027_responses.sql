-- Responses: answers of one respondent to one view. Each is a session of type response; this table has its answers.

-- respondent: id of the person or token, or an id derived from the browser's cookie. request_id: the agent's question
-- that it answers. state: draft, submitted or abandoned. rev: number of saves; a save names the rev that it read.
-- answers: JSON, as typed in a draft and as checked when submitted. once: 1 if the view took one response of each
-- respondent when this was submitted. draft_events, drafted_at: number and time of its user.form_draft events.
CREATE TABLE responses (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    view_id uuid NOT NULL,
    version bigint NOT NULL,
    request_id uuid,
    link_id uuid,
    respondent_kind text NOT NULL,
    respondent uuid NOT NULL,
    lead_entity_id uuid,
    state text NOT NULL,
    rev bigint NOT NULL,
    answers text NOT NULL,
    submission_id text,
    once bigint NOT NULL,
    late bigint NOT NULL,
    draft_events bigint NOT NULL,
    drafted_at bigint,
    created_at bigint NOT NULL,
    saved_at bigint NOT NULL,
    submitted_at bigint,
    promoted_entity_id uuid,
    promoted_by text,
    promoted_at bigint,
    CONSTRAINT responses_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT responses_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT responses_version_fk FOREIGN KEY (tenant_id, view_id, version)
        REFERENCES view_versions (tenant_id, view_id, version),
    CONSTRAINT responses_kind_known CHECK (respondent_kind IN ('user', 'token', 'browser', 'lead')),
    CONSTRAINT responses_state_known CHECK (state IN ('draft', 'submitted', 'abandoned')),
    CONSTRAINT responses_submitted_whole CHECK ((state = 'submitted') = (submitted_at IS NOT NULL)),
    CONSTRAINT responses_promoted_whole CHECK ((promoted_entity_id IS NULL) = (promoted_at IS NULL))
);
CREATE INDEX responses_by_view ON responses (tenant_id, view_id, session_id);
CREATE INDEX responses_by_respondent ON responses (tenant_id, view_id, respondent, session_id);
CREATE INDEX responses_by_entity ON responses (tenant_id, promoted_entity_id) WHERE promoted_entity_id IS NOT NULL;
CREATE INDEX responses_drafts_of_view ON responses (tenant_id, view_id) WHERE state = 'draft';
CREATE INDEX responses_drafts_by_age ON responses (saved_at) WHERE state = 'draft';
CREATE UNIQUE INDEX responses_submission_unique ON responses (tenant_id, view_id, submission_id)
    WHERE submission_id IS NOT NULL;
CREATE UNIQUE INDEX responses_draft_unique ON responses (tenant_id, view_id, respondent)
    WHERE state = 'draft' AND request_id IS NULL;
CREATE UNIQUE INDEX responses_request_draft_unique ON responses (tenant_id, request_id, respondent)
    WHERE state = 'draft' AND request_id IS NOT NULL;
CREATE UNIQUE INDEX responses_once_unique ON responses (tenant_id, view_id, respondent)
    WHERE state = 'submitted' AND once = 1 AND request_id IS NULL;
CREATE UNIQUE INDEX responses_request_once_unique ON responses (tenant_id, request_id, respondent)
    WHERE state = 'submitted' AND request_id IS NOT NULL;

-- Number of submitted responses of each view. Counting one more locks the row, so a view never takes too many.
CREATE TABLE response_counts (
    tenant_id uuid NOT NULL,
    view_id uuid NOT NULL,
    submitted bigint NOT NULL,
    CONSTRAINT response_counts_pk PRIMARY KEY (tenant_id, view_id),
    CONSTRAINT response_counts_view_fk FOREIGN KEY (tenant_id, view_id) REFERENCES views (tenant_id, id)
);

-- Links to forms, for people without an account. Only the SHA-256 of a link's secret is kept.
CREATE TABLE view_links (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    view_id uuid NOT NULL,
    request_id uuid,
    secret_digest bytea NOT NULL,
    hint text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    revoked_at bigint,
    uses bigint NOT NULL,
    CONSTRAINT view_links_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT view_links_secret_unique UNIQUE (secret_digest),
    CONSTRAINT view_links_view_fk FOREIGN KEY (tenant_id, view_id) REFERENCES views (tenant_id, id)
);
CREATE INDEX view_links_by_view ON view_links (tenant_id, view_id, id);
CREATE INDEX view_links_by_id ON view_links (id);

GRANT SELECT, INSERT, UPDATE ON responses, response_counts, view_links TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['responses', 'response_counts', 'view_links'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;

-- A transaction for a person without an account sets app.respondent. It sees and writes no response of anyone else.
CREATE POLICY responses_of_respondent ON responses AS RESTRICTIVE
    USING (coalesce(current_setting('app.respondent', true), '') = ''
        OR respondent::text = current_setting('app.respondent', true))
    WITH CHECK (coalesce(current_setting('app.respondent', true), '') = ''
        OR respondent::text = current_setting('app.respondent', true));
