-- A claim passes over locked sessions. A row that is inserted with a reference to a session locks that session's key until
-- its transaction ends, which is no reason to pass over it: no claim changes a key.
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
            ORDER BY s.queued_at, s.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED);
    ELSE
        candidates := ARRAY(SELECT s FROM sessions s WHERE s.tenant_id = workspace AND s.status = 'pending' AND s.agent_slug = agent
            ORDER BY s.queued_at, s.id LIMIT most FOR NO KEY UPDATE SKIP LOCKED);
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
