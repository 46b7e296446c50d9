-- is_open is also 0 while a session is idle and its watermark is at its newest event. The change that adds an event to
-- the session sets it to 1 again. So a search for what is to be read does not visit every conversation that nobody
-- ended.
UPDATE memory_watermarks SET is_open = 0 WHERE is_open = 1 AND is_alone = 0 AND EXISTS (
    SELECT 1 FROM sessions s WHERE s.tenant_id = memory_watermarks.tenant_id AND s.id = memory_watermarks.session_id
        AND s.status = 'idle' AND s.head_sequence = memory_watermarks.sequence
);
