-- The channel of an agent's session, as platform, line end and id. A conversation that names none is the direct
-- messages of its person. Null for sessions without a channel, for incognito ones, and after an erasure. Sessions that
-- have an escape in their metadata stay without: PostgreSQL cannot read some of them as text. Channels for whose
-- history nobody can ask stay without too: an index entry has at most 2,704 bytes.
ALTER TABLE sessions ADD COLUMN channel text;
SELECT set_config('app.system', 'on', true);
-- private_to is set for old incognito sessions by the next migration only.
UPDATE sessions SET channel = CASE
    WHEN metadata LIKE '%"channel"%' AND metadata::json -> 'channel' IS NOT NULL
        THEN (
            SELECT platform || chr(10) || channel_id
            FROM (SELECT metadata::json #>> '{channel,platform}', metadata::json #>> '{channel,id}')
                AS of_session (platform, channel_id)
            WHERE length(platform) <= 64 AND platform ~ '^[a-z0-9]+(-[a-z0-9]+)*$'
                AND channel_id ~ '^[^\u0001-\u001f\u007f-\u009f]{1,200}$'
        )
    WHEN source = 'thread' THEN 'shiftbook' || chr(10) || user_id::text
    END
WHERE agent_slug IS NOT NULL AND private_to IS NULL AND metadata NOT LIKE '%"incognito":true%'
    AND strpos(metadata, '\u') = 0
    AND (metadata LIKE '%"channel"%' OR (source = 'thread' AND user_id IS NOT NULL));
SELECT set_config('app.system', 'off', true);
CREATE INDEX sessions_by_channel ON sessions (tenant_id, agent_slug, channel, id) WHERE channel IS NOT NULL;
