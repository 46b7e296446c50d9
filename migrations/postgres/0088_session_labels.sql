-- Tags and the assignee of a session. Both follow from the session's log. tags: a JSON array of texts in the order of the
-- alphabet, NULL for none. assignee: user:… with the id of a member.
ALTER TABLE sessions ADD COLUMN tags text;
ALTER TABLE sessions ADD COLUMN assignee text;
