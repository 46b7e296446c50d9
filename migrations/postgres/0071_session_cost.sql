-- What a search line compares: the cost that a session's usage names, in millionths of a US dollar. The rule by which it is
-- read is domain::session::Usage; the spellings of sessions from before are read here, and so are numbers in texts.
ALTER TABLE sessions ADD COLUMN cost_micros bigint;
-- A text that PostgreSQL does not read as JSON has no cost.
CREATE FUNCTION pg_temp.cost_micros(usage text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    of jsonb;
    cost double precision;
BEGIN
    of := CAST(usage AS jsonb);
    cost := COALESCE(of ->> 'costUsd', of ->> 'cost_usd', of ->> 'cost', of ->> 'totalCostUsd', of ->> 'total_cost_usd');
    IF cost >= 0 AND cost < 1000000000 THEN RETURN round(cost * 1000000); END IF;
    RETURN NULL;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;
-- The owner of the table sees its rows of all workspaces only like this.
SELECT set_config('app.system', 'on', true);
UPDATE sessions SET cost_micros = pg_temp.cost_micros(usage) WHERE usage IS NOT NULL;
SELECT set_config('app.system', 'off', true);
DROP FUNCTION pg_temp.cost_micros(text);
