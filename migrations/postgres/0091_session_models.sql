-- The names of the models in a session's usage, one after another, for the search field "model". NULL if there is none,
-- and for a text that PostgreSQL does not read as JSON. They are no column: they follow from usage, which is bound.
-- One model is read without a query, which takes a third of the time: a list can look at 20,000 sessions.
CREATE FUNCTION shiftbook_models(usage text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT COST 1 AS $$
DECLARE
    report jsonb;
BEGIN
    report := CAST(usage AS jsonb);
    IF jsonb_typeof(report -> 'models') = 'array' THEN
        RETURN (SELECT string_agg(m.name #>> '{}', ' ') FROM (SELECT report -> 'model' AS name UNION ALL
            SELECT e.value FROM jsonb_array_elements(report -> 'models') AS e (value)) m
            WHERE jsonb_typeof(m.name) = 'string');
    END IF;
    RETURN CASE jsonb_typeof(report -> 'model') WHEN 'string' THEN report ->> 'model' END;
EXCEPTION WHEN OTHERS THEN
    RETURN NULL;
END $$;
