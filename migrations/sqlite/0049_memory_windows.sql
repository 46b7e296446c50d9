-- is_backlog: the session began before the agent's memory writer, and somebody asked for it. It is read after those that
-- the writer has found by itself. 0 from the run on that has read all of it.
ALTER TABLE memory_watermarks ADD COLUMN is_backlog INTEGER NOT NULL DEFAULT 0;
-- A window that failed is tried again in halves. window_max: most sessions of the next run that reads a session which a
-- failed run left (is_alone = 1). Only a session that was the only one of its window counts its failures.
ALTER TABLE memory_watermarks ADD COLUMN window_max INTEGER NOT NULL DEFAULT 1;
-- All that the search for the next window reads of this table, or SQLite takes the primary key and reads every session.
CREATE INDEX memory_watermarks_next ON memory_watermarks
    (tenant_id, agent, is_backlog, session_id, sequence, is_open, is_alone) WHERE is_open = 1 AND is_alone = 0;
CREATE INDEX memory_watermarks_left ON memory_watermarks
    (tenant_id, agent, window_max, session_id, sequence, is_open, is_alone, retry_at, parked_at) WHERE is_alone = 1;
