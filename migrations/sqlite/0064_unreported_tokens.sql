-- The tokens of a run are NULL if the model's service did not report those of every answer. They were counted as none.
CREATE TABLE memory_runs_reported (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    agent TEXT NOT NULL,
    cause TEXT NOT NULL,
    state TEXT NOT NULL,
    covers TEXT NOT NULL,
    window_key BLOB NOT NULL,
    turns INTEGER NOT NULL,
    proposals INTEGER NOT NULL,
    written INTEGER NOT NULL,
    error TEXT,
    model TEXT NOT NULL,
    input_tokens INTEGER,
    output_tokens INTEGER,
    cost_usd REAL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    CONSTRAINT memory_runs_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT memory_runs_writer_fk FOREIGN KEY (tenant_id, agent) REFERENCES memory_writers (tenant_id, agent),
    CONSTRAINT memory_runs_state_known CHECK (state IN ('succeeded', 'failed', 'parked')),
    CONSTRAINT memory_runs_tokens_both CHECK ((input_tokens IS NULL) = (output_tokens IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO memory_runs_reported SELECT tenant_id, id, agent, cause, state, covers, window_key, turns, proposals,
    written, error, model, input_tokens, output_tokens, cost_usd, started_at, ended_at FROM memory_runs;
-- A run that succeeded with a model had an answer, and no answer is without tokens.
UPDATE memory_runs_reported SET input_tokens = NULL, output_tokens = NULL, cost_usd = NULL
    WHERE state = 'succeeded' AND model <> '' AND input_tokens = 0 AND output_tokens = 0;
DROP TABLE memory_runs;
ALTER TABLE memory_runs_reported RENAME TO memory_runs;
CREATE INDEX memory_runs_of_agent ON memory_runs (tenant_id, agent, id);
CREATE UNIQUE INDEX memory_runs_once ON memory_runs (tenant_id, agent, window_key) WHERE state = 'succeeded';
