-- Responses: answers of one respondent to one view. Each is a session of type response; this table has its answers.

-- respondent: id of the person or token, or an id derived from the browser's cookie. request_id: the agent's question
-- that it answers. state: draft, submitted or abandoned. rev: number of saves; a save names the rev that it read.
-- answers: JSON, as typed in a draft and as checked when submitted. once: 1 if the view took one response of each
-- respondent when this was submitted. draft_events, drafted_at: number and time of its user.form_draft events.
CREATE TABLE responses (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    view_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    request_id BLOB,
    link_id BLOB,
    respondent_kind TEXT NOT NULL,
    respondent BLOB NOT NULL,
    lead_entity_id BLOB,
    state TEXT NOT NULL,
    rev INTEGER NOT NULL,
    answers TEXT NOT NULL,
    submission_id TEXT,
    once INTEGER NOT NULL,
    late INTEGER NOT NULL,
    draft_events INTEGER NOT NULL,
    drafted_at INTEGER,
    created_at INTEGER NOT NULL,
    saved_at INTEGER NOT NULL,
    submitted_at INTEGER,
    promoted_entity_id BLOB,
    promoted_by TEXT,
    promoted_at INTEGER,
    CONSTRAINT responses_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT responses_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT responses_version_fk FOREIGN KEY (tenant_id, view_id, version)
        REFERENCES view_versions (tenant_id, view_id, version),
    CONSTRAINT responses_kind_known CHECK (respondent_kind IN ('user', 'token', 'browser', 'lead')),
    CONSTRAINT responses_state_known CHECK (state IN ('draft', 'submitted', 'abandoned')),
    CONSTRAINT responses_submitted_whole CHECK ((state = 'submitted') = (submitted_at IS NOT NULL)),
    CONSTRAINT responses_promoted_whole CHECK ((promoted_entity_id IS NULL) = (promoted_at IS NULL))
) STRICT;
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
    tenant_id BLOB NOT NULL,
    view_id BLOB NOT NULL,
    submitted INTEGER NOT NULL,
    CONSTRAINT response_counts_pk PRIMARY KEY (tenant_id, view_id),
    CONSTRAINT response_counts_view_fk FOREIGN KEY (tenant_id, view_id) REFERENCES views (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- Links to forms, for people without an account. Only the SHA-256 of a link's secret is kept.
CREATE TABLE view_links (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    view_id BLOB NOT NULL,
    request_id BLOB,
    secret_digest BLOB NOT NULL,
    hint TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    revoked_at INTEGER,
    uses INTEGER NOT NULL,
    CONSTRAINT view_links_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT view_links_secret_unique UNIQUE (secret_digest),
    CONSTRAINT view_links_view_fk FOREIGN KEY (tenant_id, view_id) REFERENCES views (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX view_links_by_view ON view_links (tenant_id, view_id, id);
CREATE INDEX view_links_by_id ON view_links (id);
