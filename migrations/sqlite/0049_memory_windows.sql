-- is_backlog: the session began before the agent's memory writer, and somebody asked for it. It is read after those that
-- the writer has found by itself. 0 from the run on that has read all of it.
ALTER TABLE memory_watermarks ADD COLUMN is_backlog INTEGER NOT NULL DEFAULT 0;
-- All that the search for the next window reads of this table, or SQLite takes the primary key and reads every session.
CREATE INDEX memory_watermarks_next ON memory_watermarks
    (tenant_id, agent, is_backlog, session_id, sequence, is_open, is_alone) WHERE is_open = 1 AND is_alone = 0;
