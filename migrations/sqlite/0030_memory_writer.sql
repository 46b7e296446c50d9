-- The writer pass: leases, watermarks, runs, and lines that reviewers denied. Proposals are gates of the kind `memory`.

-- A table cannot be rebuilt while others refer to it, so the list of kinds is changed in place. What follows makes every
-- connection read the schema again.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (kind IN (''tool'', ''output'', ''fields'', ''question''))',
    'CHECK (kind IN (''tool'', ''output'', ''fields'', ''question'', ''memory''))') WHERE type = 'table' AND name = 'gates';
PRAGMA writable_schema = RESET;

-- One row for each agent with a writer. owner: the server that holds the lease. tracked_until: sessions that began
-- before it have a watermark. day, runs, tokens: spent on this day (UTC), counted from 1970-01-01.
CREATE TABLE memory_writers (
    tenant_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    owner TEXT,
    lease_until INTEGER,
    tracked_until INTEGER NOT NULL,
    flush_at INTEGER,
    retry_at INTEGER,
    failures INTEGER NOT NULL,
    parked_at INTEGER,
    day INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    CONSTRAINT memory_writers_pk PRIMARY KEY (tenant_id, agent),
    CONSTRAINT memory_writers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;

-- How far each session is summarised. is_open: whether more turns can follow.
CREATE TABLE memory_watermarks (
    tenant_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    session_id BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    is_open INTEGER NOT NULL,
    CONSTRAINT memory_watermarks_pk PRIMARY KEY (tenant_id, agent, session_id),
    CONSTRAINT memory_watermarks_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_watermarks_open ON memory_watermarks (tenant_id, agent, session_id) WHERE is_open = 1;

-- covers: JSON array of {session, after, upto}: the run covers the sequences above `after` up to `upto`. window_key:
-- digest of `covers` and the prompt's version; one run of each succeeds.
CREATE TABLE memory_runs (
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
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER NOT NULL,
    CONSTRAINT memory_runs_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT memory_runs_writer_fk FOREIGN KEY (tenant_id, agent) REFERENCES memory_writers (tenant_id, agent),
    CONSTRAINT memory_runs_state_known CHECK (state IN ('succeeded', 'failed', 'parked'))
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_runs_of_agent ON memory_runs (tenant_id, agent, id);
CREATE UNIQUE INDEX memory_runs_once ON memory_runs (tenant_id, agent, window_key) WHERE state = 'succeeded';

-- Lines that reviewers denied, in the form in which lines are compared.
CREATE TABLE memory_denials (
    tenant_id BLOB NOT NULL,
    agent TEXT NOT NULL,
    line TEXT NOT NULL,
    path TEXT NOT NULL,
    gate_id BLOB NOT NULL,
    reason TEXT NOT NULL,
    denied_at INTEGER NOT NULL,
    CONSTRAINT memory_denials_pk PRIMARY KEY (tenant_id, agent, line),
    CONSTRAINT memory_denials_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX gates_memory_open ON gates (tenant_id, agent_slug, id) WHERE kind = 'memory' AND state IN ('open', 'held');
