-- Ratings, in a file of their own beside the ledger: no key leads from here to a session, a workspace or any other table,
-- and no column takes words. session_id_opaque is a MAC of the session's id under the instance's key. The same as the
-- schema session_feedback on PostgreSQL. Ids are 16-byte blobs.
CREATE TABLE session_feedback (
    id BLOB NOT NULL,
    session_id_opaque TEXT NOT NULL,
    user_id_or_null BLOB,
    recorded_at TEXT NOT NULL,
    label TEXT NOT NULL,
    turn_count_at_end INTEGER NOT NULL,
    source TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    CONSTRAINT session_feedback_pk PRIMARY KEY (id),
    CONSTRAINT session_feedback_id_is_a_uuid CHECK (length(id) = 16),
    CONSTRAINT session_feedback_user_is_a_uuid CHECK (user_id_or_null IS NULL OR length(user_id_or_null) = 16),
    CONSTRAINT session_feedback_session_is_a_digest
        CHECK (length(session_id_opaque) = 64 AND session_id_opaque NOT GLOB '*[^0-9a-f]*'),
    CONSTRAINT session_feedback_recorded_at_is_utc
        CHECK (recorded_at GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9].[0-9][0-9][0-9][0-9][0-9][0-9]Z'),
    CONSTRAINT session_feedback_label_known CHECK (label IN ('positive', 'negative', 'skip')),
    CONSTRAINT session_feedback_turns_counted CHECK (turn_count_at_end >= 0),
    CONSTRAINT session_feedback_source_known CHECK (source IN ('cli_end', 'cli_exit', 'api_end', 'web_end')),
    CONSTRAINT session_feedback_version_known CHECK (schema_version = 1)
) STRICT;
-- Each person rates a session once; so does the person of a session that keeps nobody's name.
CREATE UNIQUE INDEX session_feedback_once ON session_feedback (session_id_opaque, user_id_or_null)
    WHERE user_id_or_null IS NOT NULL;
CREATE UNIQUE INDEX session_feedback_once_scrubbed ON session_feedback (session_id_opaque)
    WHERE user_id_or_null IS NULL;
CREATE INDEX session_feedback_by_user ON session_feedback (user_id_or_null) WHERE user_id_or_null IS NOT NULL;
CREATE INDEX session_feedback_by_time ON session_feedback (recorded_at);
