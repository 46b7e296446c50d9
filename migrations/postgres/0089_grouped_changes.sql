-- Completions and new sessions of one moment share a statement, as appends and claims do. Before, a completion was a
-- transaction of six round trips and a new session one of four.

-- The sessions as they are now, with their row versions, and the output contracts of their actions. None if the workspace
-- has a webhook. It locks nothing: shiftbook_complete changes only rows that still have these versions.
CREATE FUNCTION shiftbook_seen(workspace uuid, person uuid, session_ids uuid[])
RETURNS TABLE (seen sessions, version text, output_type text, output_config text, action_metadata text)
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('role', 'shiftbook_app', true), set_config('app.tenant', workspace::text, true),
        set_config('app.user', coalesce(person::text, ''), true), set_config('app.system', 'off', true),
        set_config('lock_timeout', '2s', true), set_config('plan_cache_mode', 'force_generic_plan', true),
        -- By the index, also by a plan that was made while the sessions were few.
        set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
        set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
        -- A plan that avoids something looks expensive, and compiling it would take a thousand times its own time.
        set_config('jit', 'off', true);
    -- Then none of them can be completed here.
    IF EXISTS (SELECT FROM webhooks w WHERE w.tenant_id = workspace AND w.disabled_at IS NULL) THEN
        RETURN;
    END IF;
    RETURN QUERY SELECT s, s.xmin::text, a.output_type, a.output_config, a.metadata
        FROM sessions s LEFT JOIN actions a ON a.tenant_id = workspace AND a.id = s.action_id
        WHERE s.tenant_id = workspace AND s.id = ANY (session_ids);
END $$;

-- Completes the sessions whose rows still have the versions that were seen, and returns their ids. None if the workspace
-- has a webhook, which has to be sent a message in the same transaction. Arrays are in the order of the session ids.
CREATE FUNCTION shiftbook_complete(
    workspace uuid, person uuid, status_before text, status_after text, reason text,
    session_ids uuid[], versions text[], results text[], usages text[], costs bigint[], sequences bigint[],
    digests bytea[], changed_at bigint[], ended_at bigint[], captured boolean[],
    event_tenants uuid[], event_sessions uuid[], event_sequences bigint[], event_ids uuid[], event_types text[],
    roles text[], contents text[], metadatas text[], thread_ids text[], external_event_ids text[],
    event_attempts bigint[], actors text[], ats bigint[], recorded_ats bigint[], body_digests bytea[],
    event_digests bytea[]
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
        set_config('jit', 'off', true);
    IF EXISTS (SELECT FROM webhooks w WHERE w.tenant_id = workspace AND w.disabled_at IS NULL) THEN
        RETURN '{}';
    END IF;
    WITH changed AS (
        UPDATE sessions s SET status = status_after, end_reason = reason, result = g.result, usage = g.usage,
                cost_micros = g.cost, lease_seconds = NULL, lease_expires_at = NULL, deadline_at = NULL,
                head_sequence = g.sequence, head_digest = g.digest, updated_at = g.changed_at, completed_at = g.ended_at
            FROM UNNEST(session_ids, versions, results, usages, costs, sequences, digests, changed_at, ended_at)
                AS g (id, version, result, usage, cost, sequence, digest, changed_at, ended_at)
            -- The first condition on the id is there for the index, whatever the plan begins with.
            WHERE s.tenant_id = workspace AND s.id = ANY (session_ids) AND s.id = g.id AND s.status = status_before
                AND s.xmin::text = g.version
            RETURNING s.id
    ) SELECT coalesce(array_agg(changed.id), '{}') INTO written FROM changed;
    INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata,
            thread_id, external_event_id, attempt, actor, at, recorded_at, body_digest, digest)
        SELECT * FROM UNNEST(event_tenants, event_sessions, event_sequences, event_ids, event_types, roles, contents,
            metadatas, thread_ids, external_event_ids, event_attempts, actors, ats, recorded_ats, body_digests,
            event_digests) AS e (tenant, session)
        WHERE e.session = ANY (written);
    INSERT INTO captures_due (tenant_id, session_id, sequence, status, ended_at, due_at)
        SELECT workspace, c.id, c.sequence, status_after, c.ended_at, c.ended_at
            FROM UNNEST(session_ids, sequences, ended_at, captured) AS c (id, sequence, ended_at, is_captured)
            WHERE c.is_captured AND c.id = ANY (written)
        ON CONFLICT DO NOTHING;
    RETURN written;
END $$;

-- Inserts new sessions that refer to nothing, with their first events.
CREATE FUNCTION shiftbook_create(
    workspace uuid, person uuid,
    session_ids uuid[], session_types text[], statuses text[], agents text[], users uuid[], titles text[],
    inputs text[], session_metadatas text[], makers text[], attempts_maxima bigint[], sequences bigint[],
    digests bytea[], created_at bigint[], changed_at bigint[], queued_at bigint[], channels text[],
    event_tenants uuid[], event_sessions uuid[], event_sequences bigint[], event_ids uuid[], event_types text[],
    roles text[], contents text[], metadatas text[], thread_ids text[], external_event_ids text[],
    event_attempts bigint[], actors text[], ats bigint[], recorded_ats bigint[], body_digests bytea[],
    event_digests bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('role', 'shiftbook_app', true), set_config('app.tenant', workspace::text, true),
        set_config('app.user', coalesce(person::text, ''), true), set_config('app.system', 'off', true),
        set_config('lock_timeout', '2s', true), set_config('plan_cache_mode', 'force_generic_plan', true),
        set_config('jit', 'off', true);
    INSERT INTO sessions (tenant_id, id, session_type, status, agent_slug, user_id, title, input, metadata, created_by,
            attempts_max, head_sequence, head_digest, created_at, updated_at, queued_at, channel)
        SELECT workspace, g.id, g.session_type, g.status, g.agent, g.of_user, g.title, g.input, g.metadata, g.maker,
                g.attempts_max, g.sequence, g.digest, g.created, g.changed, g.queued, g.channel
            FROM UNNEST(session_ids, session_types, statuses, agents, users, titles, inputs, session_metadatas, makers,
                attempts_maxima, sequences, digests, created_at, changed_at, queued_at, channels)
                AS g (id, session_type, status, agent, of_user, title, input, metadata, maker, attempts_max, sequence,
                digest, created, changed, queued, channel);
    INSERT INTO session_events (tenant_id, session_id, sequence, event_id, event_type, role, content, metadata,
            thread_id, external_event_id, attempt, actor, at, recorded_at, body_digest, digest)
        SELECT * FROM UNNEST(event_tenants, event_sessions, event_sequences, event_ids, event_types, roles, contents,
            metadatas, thread_ids, external_event_ids, event_attempts, actors, ats, recorded_ats, body_digests,
            event_digests);
END $$;
