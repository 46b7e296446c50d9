-- The writer pass: leases, watermarks, runs, and lines that reviewers denied. Proposals are gates of the kind `memory`.

ALTER TABLE gates DROP CONSTRAINT gates_kind_known;
ALTER TABLE gates ADD CONSTRAINT gates_kind_known CHECK (kind IN ('tool', 'output', 'fields', 'question', 'memory'));

-- One row for each agent with a writer. owner: the server that holds the lease. tracked_until: sessions that began
-- before it have a watermark. day, runs, tokens: spent on this day (UTC), counted from 1970-01-01.
CREATE TABLE memory_writers (
    tenant_id uuid NOT NULL,
    agent text NOT NULL,
    owner text,
    lease_until bigint,
    tracked_until bigint NOT NULL,
    flush_at bigint,
    retry_at bigint,
    failures bigint NOT NULL,
    parked_at bigint,
    day bigint NOT NULL,
    runs bigint NOT NULL,
    tokens bigint NOT NULL,
    CONSTRAINT memory_writers_pk PRIMARY KEY (tenant_id, agent),
    CONSTRAINT memory_writers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

-- How far each session is summarised. is_open: whether more turns can follow.
CREATE TABLE memory_watermarks (
    tenant_id uuid NOT NULL,
    agent text NOT NULL,
    session_id uuid NOT NULL,
    sequence bigint NOT NULL,
    is_open bigint NOT NULL,
    CONSTRAINT memory_watermarks_pk PRIMARY KEY (tenant_id, agent, session_id),
    CONSTRAINT memory_watermarks_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);
CREATE INDEX memory_watermarks_open ON memory_watermarks (tenant_id, agent, session_id) WHERE is_open = 1;

-- covers: JSON array of {session, after, upto}: the run covers the sequences above `after` up to `upto`. window_key:
-- digest of `covers` and the prompt's version; one run of each succeeds.
CREATE TABLE memory_runs (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    agent text NOT NULL,
    cause text NOT NULL,
    state text NOT NULL,
    covers text NOT NULL,
    window_key bytea NOT NULL,
    turns bigint NOT NULL,
    proposals bigint NOT NULL,
    written bigint NOT NULL,
    error text,
    model text NOT NULL,
    input_tokens bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost_usd double precision,
    started_at bigint NOT NULL,
    ended_at bigint NOT NULL,
    CONSTRAINT memory_runs_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT memory_runs_writer_fk FOREIGN KEY (tenant_id, agent) REFERENCES memory_writers (tenant_id, agent),
    CONSTRAINT memory_runs_state_known CHECK (state IN ('succeeded', 'failed', 'parked'))
);
CREATE INDEX memory_runs_of_agent ON memory_runs (tenant_id, agent, id);
CREATE UNIQUE INDEX memory_runs_once ON memory_runs (tenant_id, agent, window_key) WHERE state = 'succeeded';

-- Lines that reviewers denied, in the form in which lines are compared.
CREATE TABLE memory_denials (
    tenant_id uuid NOT NULL,
    agent text NOT NULL,
    line text NOT NULL,
    path text NOT NULL,
    gate_id uuid NOT NULL,
    reason text NOT NULL,
    denied_at bigint NOT NULL,
    CONSTRAINT memory_denials_pk PRIMARY KEY (tenant_id, agent, line),
    CONSTRAINT memory_denials_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id)
);

CREATE INDEX gates_memory_open ON gates (tenant_id, agent_slug, id) WHERE kind = 'memory' AND state IN ('open', 'held');

GRANT SELECT, INSERT, UPDATE ON memory_writers, memory_watermarks TO shiftbook_app;
GRANT SELECT, INSERT ON memory_runs TO shiftbook_app;
GRANT SELECT, INSERT, DELETE ON memory_denials TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['memory_writers', 'memory_watermarks', 'memory_runs', 'memory_denials'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;

-- A claim in one statement takes no session whose agent has memories: the general path adds them.
CREATE OR REPLACE FUNCTION shiftbook_claim(
    workspace uuid, person uuid, agent text, most bigint, attempt_before bigint, status_after text, attempt_after bigint,
    seconds bigint, lease_from bigint, instant bigint, written_by text, tag bytea,
    event_ids uuid[], event_types text[], roles text[], contents text[], metadatas text[], bodies bytea[], tails bytea[]
) RETURNS TABLE (taken sessions, digest_before bytea) LANGUAGE plpgsql AS $$
DECLARE
    candidates sessions[];
    candidate sessions;
    more boolean;
    place int := 0;
    ids uuid[] := '{}';
    -- Of each session its two, one after the other.
    links bytea[] := '{}';
    claimed_link bytea;
    changed_link bytea;
BEGIN
    PERFORM set_config('role', 'shiftbook_app', true), set_config('app.tenant', workspace::text, true),
        set_config('app.user', coalesce(person::text, ''), true), set_config('app.system', 'off', true),
        set_config('lock_timeout', '2s', true), set_config('plan_cache_mode', 'force_generic_plan', true),
        -- The queue is read from its index, and the sessions from theirs, also by a plan that was made while they were few.
        set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true),
        set_config('enable_bitmapscan', 'off', true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        -- A plan that was told to avoid something looks dear, and compiling it would take a thousand times its own time.
        set_config('jit', 'off', true);
    -- Two texts, because each has an index of its own.
    IF agent IS NULL THEN
        candidates := ARRAY(SELECT s FROM sessions s WHERE s.tenant_id = workspace AND s.status = 'pending'
            ORDER BY s.queued_at, s.id LIMIT most FOR UPDATE SKIP LOCKED);
    ELSE
        candidates := ARRAY(SELECT s FROM sessions s WHERE s.tenant_id = workspace AND s.status = 'pending' AND s.agent_slug = agent
            ORDER BY s.queued_at, s.id LIMIT most FOR UPDATE SKIP LOCKED);
    END IF;
    FOREACH candidate IN ARRAY candidates LOOP
        more := candidate.attempt <> attempt_before OR candidate.dependency_count <> 0 OR candidate.time_limits IS NOT NULL;
        IF NOT more AND candidate.user_id IS NOT NULL THEN
            -- Its person works on something: its agent is told what.
            more := EXISTS (SELECT FROM sessions h WHERE h.tenant_id = workspace AND h.user_id = candidate.user_id
                AND h.source = 'human-session-bridge' AND h.status = 'running');
        END IF;
        IF NOT more AND candidate.agent_slug IS NOT NULL THEN
            -- Its agent is told what it remembers.
            more := EXISTS (SELECT FROM memory_agents a WHERE a.tenant_id = workspace AND a.agent = candidate.agent_slug
                AND a.documents > 0);
        END IF;
        IF more THEN
            RETURN NEXT;
            RETURN;
        END IF;
    END LOOP;
    lease_from := coalesce(lease_from, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint));
    FOREACH candidate IN ARRAY candidates LOOP
        claimed_link := sha256(tag || candidate.head_digest || uuid_send(workspace) || uuid_send(candidate.id)
            || int8send(candidate.head_sequence + 1) || uuid_send(event_ids[place + 1]) || tails[1]);
        changed_link := sha256(tag || claimed_link || uuid_send(workspace) || uuid_send(candidate.id)
            || int8send(candidate.head_sequence + 2) || uuid_send(event_ids[place + 2]) || tails[2]);
        ids := ids || candidate.id;
        links := links || claimed_link || changed_link;
        place := place + 2;
    END LOOP;
    INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata, attempt,
            actor, at, recorded_at, body_digest, digest)
        SELECT workspace, c.id, c.head_sequence + e.number, event_ids[2 * c.ordinality - 2 + e.number], event_types[e.number],
                roles[e.number], contents[e.number], metadatas[e.number], attempt_after, written_by, instant, instant,
                bodies[e.number], links[2 * c.ordinality - 2 + e.number]
            FROM UNNEST(candidates) WITH ORDINALITY AS c, generate_series(1, 2) AS e (number);
    RETURN QUERY WITH changed AS (
        UPDATE sessions s SET status = status_after, attempt = attempt_after, end_reason = NULL, waits_for = NULL,
                deadline_at = NULL, lease_seconds = seconds, lease_expires_at = lease_from + seconds * 1000000,
                started_at = coalesce(s.started_at, instant), head_sequence = c.head_sequence + 2,
                head_digest = links[2 * c.ordinality], updated_at = instant
            FROM UNNEST(candidates) WITH ORDINALITY AS c
            WHERE s.tenant_id = workspace AND s.id = ANY (ids) AND s.id = c.id
            RETURNING s AS session, c.head_digest AS digest, c.ordinality AS number
        ) SELECT changed.session, changed.digest FROM changed ORDER BY changed.number;
END $$;
