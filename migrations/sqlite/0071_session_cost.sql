-- What a search line compares: the cost that a session's usage names, in millionths of a US dollar. The rule by which it is
-- read is domain::session::Usage; the spellings of sessions from before are read here, and so are numbers in texts.
ALTER TABLE sessions ADD COLUMN cost_micros INTEGER;
UPDATE sessions SET cost_micros = (SELECT CAST(round(CAST(found.value AS REAL) * 1000000) AS INTEGER) FROM (
        SELECT COALESCE(usage ->> '$.costUsd', usage ->> '$.cost_usd', usage ->> '$.cost', usage ->> '$.totalCostUsd',
            usage ->> '$.total_cost_usd') AS value) found
    WHERE CAST(found.value AS REAL) >= 0 AND CAST(found.value AS REAL) < 1000000000
        AND (typeof(found.value) IN ('integer', 'real') OR found.value GLOB '[0-9]*'))
    WHERE usage IS NOT NULL AND json_valid(usage) AND json_type(usage) = 'object';
