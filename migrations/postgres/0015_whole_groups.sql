-- A group at once. Both functions of 0013 wrote session by session, and each statement on `sessions` costs PostgreSQL the
-- reading of its check constraints, on `session_events` the opening of a partition and its indexes: of eight appends two
-- thirds of the time were that. What they promise has not changed.

CREATE OR REPLACE FUNCTION shiftbook_append(
    workspace uuid, person uuid,
    session_ids uuid[], statuses text[], attempts bigint[], sequences_before bigint[], digests_before bytea[],
    sequences bigint[], digests bytea[], changed_at bigint[],
    event_tenants uuid[], event_sessions uuid[], event_sequences bigint[], event_ids uuid[], event_types text[], roles text[],
    contents text[], metadatas text[], thread_ids text[], external_event_ids text[], event_attempts bigint[], actors text[],
    ats bigint[], recorded_ats bigint[], body_digests bytea[], event_digests bytea[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    written uuid[];
BEGIN
    PERFORM set_config('role', 'shiftbook_app', true), set_config('app.tenant', workspace::text, true),
        set_config('app.user', coalesce(person::text, ''), true), set_config('app.system', 'off', true),
        set_config('lock_timeout', '2s', true), set_config('plan_cache_mode', 'force_generic_plan', true),
        -- By the index, and so in the order of their ids: that is the order of their locks.
        set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        -- A plan that was told to avoid something looks dear, and compiling it would take a thousand times its own time.
        set_config('jit', 'off', true);
    -- Waits for whoever holds a row, and then looks at what they made of it.
    WITH moved AS (
        UPDATE sessions s SET head_sequence = g.sequence, head_digest = g.digest, updated_at = g.at
            FROM UNNEST(session_ids, statuses, attempts, sequences_before, digests_before, sequences, digests, changed_at)
                AS g (id, status, attempt, sequence_before, digest_before, sequence, digest, at)
            -- The first condition on the id is there for the index, whatever the plan begins with.
            WHERE s.tenant_id = workspace AND s.id = ANY (session_ids) AND s.id = g.id AND s.status = g.status AND s.attempt = g.attempt
                AND s.head_sequence = g.sequence_before AND s.head_digest = g.digest_before
            RETURNING s.id
    ) SELECT coalesce(array_agg(moved.id), '{}') INTO written FROM moved;
    INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata, thread_id,
            external_event_id, attempt, actor, at, recorded_at, body_digest, digest)
        SELECT * FROM UNNEST(event_tenants, event_sessions, event_sequences, event_ids, event_types, roles, contents,
            metadatas, thread_ids, external_event_ids, event_attempts, actors, ats, recorded_ats, body_digests, event_digests)
            AS e (tenant, session)
        WHERE e.session = ANY (written);
    RETURN written;
END $$;

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
