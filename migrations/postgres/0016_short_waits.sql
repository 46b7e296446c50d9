-- Appends at known heads share a statement with everybody's: a session that somebody holds makes them wait for 50 ms, not
-- for 2 s. Then nothing is written, and the group is judged in a transaction of its own, which waits as long as before.
-- Otherwise the function is that of 0015.

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
        set_config('lock_timeout', '50ms', true), set_config('plan_cache_mode', 'force_generic_plan', true),
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
