-- Appends and claims in one round trip. Both functions run as whoever calls them, take the application's role and the
-- caller's row-level security first, and are a transaction of their own. Their plans are made once: planning a claim costs
-- more than the claim.

-- An append at heads that the server knows: it sends the finished rows, hashes included, and they are written where the
-- log still stands there.
-- Per session, in id order (so that no two servers wait for each other): session_ids, what is expected of them (statuses,
-- attempts, sequences_before, digests_before), and what they become (sequences, digests, changed_at). The rest are columns
-- of the events. Answers with the sessions that were as expected and are written; nothing is written of the others.
CREATE FUNCTION shiftbook_append(
    workspace uuid, person uuid,
    session_ids uuid[], statuses text[], attempts bigint[], sequences_before bigint[], digests_before bytea[],
    sequences bigint[], digests bytea[], changed_at bigint[],
    event_tenants uuid[], event_sessions uuid[], event_sequences bigint[], event_ids uuid[], event_types text[], roles text[],
    contents text[], metadatas text[], thread_ids text[], external_event_ids text[], event_attempts bigint[], actors text[],
    ats bigint[], recorded_ats bigint[], body_digests bytea[], event_digests bytea[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    written uuid[] := '{}';
BEGIN
    PERFORM set_config('role', 'shiftbook_app', true), set_config('app.tenant', workspace::text, true),
        set_config('app.user', coalesce(person::text, ''), true), set_config('app.system', 'off', true),
        set_config('lock_timeout', '2s', true), set_config('plan_cache_mode', 'force_generic_plan', true);
    FOR i IN 1 .. cardinality(session_ids) LOOP
        -- Waits for whoever holds the row, and then looks at what they made of it.
        UPDATE sessions s SET head_sequence = sequences[i], head_digest = digests[i], updated_at = changed_at[i]
            WHERE s.tenant_id = workspace AND s.id = session_ids[i] AND s.status = statuses[i] AND s.attempt = attempts[i]
                AND s.head_sequence = sequences_before[i] AND s.head_digest = digests_before[i];
        IF FOUND THEN
            written := written || session_ids[i];
        END IF;
    END LOOP;
    INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata, thread_id,
            external_event_id, attempt, actor, at, recorded_at, body_digest, digest)
        SELECT * FROM UNNEST(event_tenants, event_sessions, event_sequences, event_ids, event_types, roles, contents,
            metadatas, thread_ids, external_event_ids, event_attempts, actors, ats, recorded_ats, body_digests, event_digests)
            AS e (tenant, session)
        WHERE e.session = ANY (written);
    RETURN written;
END $$;

-- A claim of sessions that nobody has held and that have nothing to be told: they are locked, changed, and their two
-- events are written.
-- Takes the oldest queued sessions of an agent (null: of any), at most so many, and skips those that others hold. Answers with
-- the sessions as they became, and with the digest that each one's log had; with one row of nulls, and nothing taken, if
-- one of the sessions has more to it than this function knows. What a claim makes of a session is said by the caller
-- (status_after, attempt_after, lease_seconds); lease_from: null goes by the database's clock. The events: ids two per
-- session, everything else two in all; a link is the tag, the previous digest, the place, the id and the tail.
CREATE FUNCTION shiftbook_claim(
    workspace uuid, person uuid, agent text, most bigint, attempt_before bigint, status_after text, attempt_after bigint,
    seconds bigint, lease_from bigint, instant bigint, written_by text, tag bytea,
    event_ids uuid[], event_types text[], roles text[], contents text[], metadatas text[], bodies bytea[], tails bytea[]
) RETURNS TABLE (taken sessions, digest_before bytea) LANGUAGE plpgsql AS $$
DECLARE
    candidates sessions[];
    candidate sessions;
    more boolean;
    place int := 0;
    claimed_link bytea;
    changed_link bytea;
BEGIN
    PERFORM set_config('role', 'shiftbook_app', true), set_config('app.tenant', workspace::text, true),
        set_config('app.user', coalesce(person::text, ''), true), set_config('app.system', 'off', true),
        set_config('lock_timeout', '2s', true), set_config('plan_cache_mode', 'force_generic_plan', true),
        -- The queue is read from its index, also by a plan that was made while it was empty.
        set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true);
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
        INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata, attempt,
                actor, at, recorded_at, body_digest, digest)
            VALUES (workspace, candidate.id, candidate.head_sequence + 1, event_ids[place + 1], event_types[1], roles[1],
                contents[1], metadatas[1], attempt_after, written_by, instant, instant, bodies[1], claimed_link),
            (workspace, candidate.id, candidate.head_sequence + 2, event_ids[place + 2], event_types[2], roles[2],
                contents[2], metadatas[2], attempt_after, written_by, instant, instant, bodies[2], changed_link);
        UPDATE sessions s SET status = status_after, attempt = attempt_after, end_reason = NULL, waits_for = NULL, deadline_at = NULL,
                lease_seconds = seconds, lease_expires_at = lease_from + seconds * 1000000, started_at = coalesce(s.started_at, instant),
                head_sequence = candidate.head_sequence + 2, head_digest = changed_link, updated_at = instant
            WHERE s.tenant_id = workspace AND s.id = candidate.id
            RETURNING s.* INTO taken;
        digest_before := candidate.head_digest;
        place := place + 2;
        RETURN NEXT;
    END LOOP;
END $$;
