-- A model that fails for one session does not hold up the others: the session waits longer after each attempt.

-- attempts: how often the model was asked. retry_at: when it is asked again; NULL once nothing more is asked, with a
-- score or without. Until then score is NULL, and scored_at is the time of the last attempt.
ALTER TABLE session_continuity ADD COLUMN attempts INTEGER NOT NULL DEFAULT 1;
ALTER TABLE session_continuity ADD COLUMN retry_at INTEGER;
