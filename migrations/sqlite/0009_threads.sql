-- Conversations: sessions whose source is 'thread'. Their lists are by who holds them, newest first.
CREATE INDEX sessions_threads_of_caller ON sessions (tenant_id, created_by, id) WHERE source = 'thread';
CREATE INDEX sessions_threads_of_user ON sessions (tenant_id, user_id, id) WHERE source = 'thread';
-- Ratings are in a file of their own beside this one: migrations/sqlite_feedback.
