-- Which workers are connected: when each was last seen, by the agents whose sessions it takes.
CREATE TABLE workers (
    tenant_id BLOB NOT NULL,
    -- What the worker calls itself, else the caller.
    name TEXT NOT NULL,
    -- Slug of the agent; empty for a worker that takes sessions of any agent.
    agent TEXT NOT NULL,
    seen_at INTEGER NOT NULL,
    CONSTRAINT workers_pk PRIMARY KEY (tenant_id, name, agent),
    CONSTRAINT workers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;
