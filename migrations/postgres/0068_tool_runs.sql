-- Private values of the inputs of tool runs, from the run until its session ends. sealed: the values with their JSON
-- Pointers, encrypted with a key that is derived from the instance key.
CREATE TABLE tool_private_inputs (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    sealed bytea NOT NULL,
    CONSTRAINT tool_private_inputs_pk PRIMARY KEY (tenant_id, session_id),
    CONSTRAINT tool_private_inputs_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id)
);

GRANT SELECT, INSERT, DELETE ON tool_private_inputs TO shiftbook_app;
ALTER TABLE tool_private_inputs ENABLE ROW LEVEL SECURITY;
ALTER TABLE tool_private_inputs FORCE ROW LEVEL SECURITY;
-- Without a subquery, so that the table can be distributed by workspace.
CREATE POLICY tool_private_inputs_of_tenant ON tool_private_inputs
    USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
    WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system());
CREATE POLICY tool_private_inputs_of_no_respondent ON tool_private_inputs AS RESTRICTIVE
    USING (shiftbook_respondent() IS NULL);

-- Runs that wait for a server.
CREATE INDEX sessions_http_runs ON sessions (tenant_id, agent_slug)
    WHERE status = 'pending' AND substr(agent_slug, 1, 5) = 'http:';

-- A claim of any agent takes no run of a tool: no slug of an agent has a colon.
CREATE OR REPLACE FUNCTION shiftbook_claim(
    workspace uuid, person uuid, agent text, most bigint, attempt_before bigint, status_after text, attempt_after bigint,
    seconds bigint, lease_from bigint, instant bigint, written_by text, tag bytea,
    event_ids uuid[], event_types text[], roles text[], contents text[], metadatas text[], bodies bytea[], tails bytea[]
) RETURNS TABLE (taken sessions, digest_before bytea) LANGUAGE plpgsql AS $$
DECLARE
    -- Of the sessions that it takes, in their order.
    ids uuid[];
    sequences bigint[];
    digests bytea[];
    users uuid[];
    more boolean;
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
    -- Two texts, because each has an index of its own. The general path tells an agent what it remembers.
    IF agent IS NULL THEN
        SELECT array_agg(c.id), array_agg(c.head_sequence), array_agg(c.head_digest), array_agg(c.user_id), bool_or(c.needs_more)
            INTO ids, sequences, digests, users, more
            FROM (SELECT s.id, s.head_sequence, s.head_digest, s.user_id,
                    s.attempt <> attempt_before OR s.dependency_count <> 0 OR s.time_limits IS NOT NULL
                        OR EXISTS (SELECT FROM memory_agents a WHERE a.tenant_id = workspace AND a.agent = s.agent_slug
                            AND a.documents > 0) AS needs_more
                FROM sessions s WHERE s.tenant_id = workspace AND s.status = 'pending'
                    AND strpos(coalesce(s.agent_slug, ''), ':') = 0
                ORDER BY s.queued_at, s.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED) AS c;
    ELSE
        SELECT array_agg(c.id), array_agg(c.head_sequence), array_agg(c.head_digest), array_agg(c.user_id), bool_or(c.needs_more)
            INTO ids, sequences, digests, users, more
            FROM (SELECT s.id, s.head_sequence, s.head_digest, s.user_id,
                    s.attempt <> attempt_before OR s.dependency_count <> 0 OR s.time_limits IS NOT NULL
                        OR EXISTS (SELECT FROM memory_agents a WHERE a.tenant_id = workspace AND a.agent = s.agent_slug
                            AND a.documents > 0) AS needs_more
                FROM sessions s WHERE s.tenant_id = workspace AND s.status = 'pending' AND s.agent_slug = agent
                ORDER BY s.queued_at, s.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED) AS c;
    END IF;
    IF ids IS NULL THEN
        RETURN;
    END IF;
    IF NOT more AND cardinality(array_remove(users, NULL)) > 0 THEN
        -- A person of theirs works on something: the agent is told what.
        more := EXISTS (SELECT FROM sessions h WHERE h.tenant_id = workspace AND h.user_id = ANY (users)
            AND h.source = 'human-session-bridge' AND h.status = 'running');
    END IF;
    IF more THEN
        RETURN NEXT;
        RETURN;
    END IF;
    lease_from := coalesce(lease_from, CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint));
    FOR place IN 1 .. cardinality(ids) LOOP
        claimed_link := sha256(tag || digests[place] || uuid_send(workspace) || uuid_send(ids[place])
            || int8send(sequences[place] + 1) || uuid_send(event_ids[2 * place - 1]) || tails[1]);
        changed_link := sha256(tag || claimed_link || uuid_send(workspace) || uuid_send(ids[place])
            || int8send(sequences[place] + 2) || uuid_send(event_ids[2 * place]) || tails[2]);
        links := links || claimed_link || changed_link;
    END LOOP;
    INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata, attempt,
            actor, at, recorded_at, body_digest, digest)
        SELECT workspace, c.id, c.head_sequence + e.number, event_ids[2 * c.ordinality - 2 + e.number], event_types[e.number],
                roles[e.number], contents[e.number], metadatas[e.number], attempt_after, written_by, instant, instant,
                bodies[e.number], links[2 * c.ordinality - 2 + e.number]
            FROM UNNEST(ids, sequences) WITH ORDINALITY AS c (id, head_sequence, ordinality), generate_series(1, 2) AS e (number);
    RETURN QUERY WITH changed AS (
        UPDATE sessions s SET status = status_after, attempt = attempt_after, end_reason = NULL, waits_for = NULL,
                deadline_at = NULL, lease_seconds = seconds, lease_expires_at = lease_from + seconds * 1000000,
                started_at = coalesce(s.started_at, instant), head_sequence = s.head_sequence + 2,
                head_digest = links[2 * c.ordinality], updated_at = instant
            FROM UNNEST(ids) WITH ORDINALITY AS c (id, ordinality)
            WHERE s.tenant_id = workspace AND s.id = ANY (ids) AND s.id = c.id
            RETURNING s AS session, c.ordinality AS number
        ) SELECT changed.session, digests[changed.number] FROM changed ORDER BY changed.number;
END $$;
