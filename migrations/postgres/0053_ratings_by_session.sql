-- Finds the ratings of one session without reading all. The unique indexes cannot: each holds a part of the rows. The
-- same as sqlite_feedback/0002.
CREATE INDEX session_feedback_by_session ON session_feedback.session_feedback (session_id_opaque, recorded_at, id);
