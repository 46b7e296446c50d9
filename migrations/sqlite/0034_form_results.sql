-- scores: JSON, the result of the safety gate for each rating in a submitted response by the key of its field; NULL
-- without a rating. Responses that were submitted before have none.
ALTER TABLE responses ADD COLUMN scores TEXT;

-- note: what the link is for, as its creator wrote it. last_used_at: when a browser opened the form with it last.
ALTER TABLE view_links ADD COLUMN note TEXT NOT NULL DEFAULT '';
ALTER TABLE view_links ADD COLUMN last_used_at INTEGER;
