-- Conversations: sessions whose source is 'thread'. Their lists are by who holds them, newest first.
CREATE INDEX sessions_threads_of_caller ON sessions (tenant_id, created_by, id) WHERE source = 'thread';
CREATE INDEX sessions_threads_of_user ON sessions (tenant_id, user_id, id) WHERE source = 'thread';

-- Ratings, in a schema of their own: no key leads from here to a session, a workspace or any other table, and no column
-- takes words. session_id_opaque is a MAC of the session's id under the instance's key. There is no tenant, so there is
-- no row-level security: whoever asks has to have found the session first. The same as migrations/sqlite_feedback.
CREATE SCHEMA session_feedback;
CREATE TABLE session_feedback.session_feedback (
    id uuid NOT NULL,
    session_id_opaque text NOT NULL,
    user_id_or_null uuid,
    recorded_at text NOT NULL,
    label text NOT NULL,
    turn_count_at_end bigint NOT NULL,
    source text NOT NULL,
    schema_version bigint NOT NULL,
    CONSTRAINT session_feedback_pk PRIMARY KEY (id),
    CONSTRAINT session_feedback_session_is_a_digest CHECK (session_id_opaque ~ '^[0-9a-f]{64}$'),
    CONSTRAINT session_feedback_recorded_at_is_utc
        CHECK (recorded_at ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$'),
    CONSTRAINT session_feedback_label_known CHECK (label IN ('positive', 'negative', 'skip')),
    CONSTRAINT session_feedback_turns_counted CHECK (turn_count_at_end >= 0),
    CONSTRAINT session_feedback_source_known CHECK (source IN ('cli_end', 'cli_exit', 'api_end', 'web_end')),
    CONSTRAINT session_feedback_version_known CHECK (schema_version = 1)
);
-- Each person rates a session once; so does the person of a session that keeps nobody's name.
CREATE UNIQUE INDEX session_feedback_once ON session_feedback.session_feedback (session_id_opaque, user_id_or_null)
    WHERE user_id_or_null IS NOT NULL;
CREATE UNIQUE INDEX session_feedback_once_scrubbed ON session_feedback.session_feedback (session_id_opaque)
    WHERE user_id_or_null IS NULL;
CREATE INDEX session_feedback_by_user ON session_feedback.session_feedback (user_id_or_null)
    WHERE user_id_or_null IS NOT NULL;
CREATE INDEX session_feedback_by_time ON session_feedback.session_feedback (recorded_at);
GRANT USAGE ON SCHEMA session_feedback TO shiftbook_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON session_feedback.session_feedback TO shiftbook_app;
