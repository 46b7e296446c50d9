-- The channel of an agent's session, as platform, line end and id. A conversation that names none is the direct
-- messages of its person. Null for sessions without a channel, for incognito ones, and after an erasure. Channels
-- for whose history nobody can ask stay without: PostgreSQL cannot index long ones. GLOB reads no further than a NUL.
ALTER TABLE sessions ADD COLUMN channel TEXT;
UPDATE sessions SET channel = CASE
    WHEN json_type(metadata, '$.channel') IS NOT NULL
        THEN (
            SELECT platform || char(10) || channel_id
            FROM (SELECT json_extract(metadata, '$.channel.platform') AS platform,
                json_extract(metadata, '$.channel.id') AS channel_id)
            WHERE platform <> '' AND length(platform) <= 64 AND platform NOT GLOB '*[^a-z0-9-]*'
                AND platform NOT GLOB '-*' AND platform NOT GLOB '*-' AND platform NOT GLOB '*--*'
                AND length(channel_id) BETWEEN 1 AND 200 AND instr(metadata, '\u0000') = 0
                AND channel_id NOT GLOB '*[' || char(1) || '-' || char(31) || char(127) || '-' || char(159) || ']*'
        )
    WHEN source = 'thread' THEN 'shiftbook' || char(10) || lower(substr(hex(user_id), 1, 8) || '-' || substr(hex(user_id), 9, 4)
        || '-' || substr(hex(user_id), 13, 4) || '-' || substr(hex(user_id), 17, 4) || '-' || substr(hex(user_id), 21, 12))
    END
WHERE agent_slug IS NOT NULL AND private_to IS NULL AND json_valid(metadata)
    AND (metadata LIKE '%"channel"%' OR (source = 'thread' AND user_id IS NOT NULL));
CREATE INDEX sessions_by_channel ON sessions (tenant_id, agent_slug, channel, id) WHERE channel IS NOT NULL;
