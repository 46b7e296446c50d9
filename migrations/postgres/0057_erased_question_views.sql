-- The view that was made for one question of an agent has the texts of that question. Retention now erases them with
-- the session that asked: the title, the introduction, and of each field its label, help, options, default, condition
-- and the labels of its scale. The keys, kinds and limits of the fields stay: a response can be kept longer than the
-- question, and is read with them.

-- The trigger below looks for the question of a view.
CREATE INDEX feedback_requests_of_view ON feedback_requests (tenant_id, view_id);

CREATE FUNCTION shiftbook_erased_fields(fields text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_agg(
        (e.field - ARRAY['help', 'default', 'showIf', 'lowLabel', 'highLabel'])
            || '{"label": "(erased)"}'::jsonb
            || CASE WHEN e.field -> 'options' IS NULL THEN '{}'::jsonb ELSE '{"options": []}'::jsonb END
        ORDER BY e.place), '[]'::jsonb)::text
    FROM jsonb_array_elements(fields::jsonb) WITH ORDINALITY AS e (field, place)
$$;

DROP TRIGGER view_versions_no_update ON view_versions;
-- This clears what earlier versions left.
SELECT set_config('app.system', 'on', true);
UPDATE view_versions SET title = '(erased)', introduction = '', fields = shiftbook_erased_fields(fields) WHERE EXISTS (
    SELECT 1 FROM views v
    JOIN feedback_requests r ON r.tenant_id = v.tenant_id AND r.view_id = v.id
    JOIN erasures e ON e.tenant_id = r.tenant_id AND e.session_id = r.session_id
    WHERE v.tenant_id = view_versions.tenant_id AND v.id = view_versions.view_id AND v.listed = 0
        AND e.finished_at IS NOT NULL
);
UPDATE views SET title = '(erased)', introduction = '', fields = shiftbook_erased_fields(fields)
WHERE listed = 0 AND EXISTS (
    SELECT 1 FROM feedback_requests r
    JOIN erasures e ON e.tenant_id = r.tenant_id AND e.session_id = r.session_id
    WHERE r.tenant_id = views.tenant_id AND r.view_id = views.id AND e.finished_at IS NOT NULL
);
SELECT set_config('app.system', 'off', true);

-- A version changes in one way: its texts are erased, while an erasure of the session that asked is under way. The
-- server's role may not even try: it has no right to change this table.
CREATE FUNCTION shiftbook_view_version_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.title = '(erased)' AND NEW.introduction = '' AND NEW.fields = shiftbook_erased_fields(OLD.fields)
        AND to_jsonb(NEW) - ARRAY['title', 'introduction', 'fields']
            = to_jsonb(OLD) - ARRAY['title', 'introduction', 'fields']
        AND EXISTS (SELECT 1 FROM views v
            JOIN feedback_requests r ON r.tenant_id = v.tenant_id AND r.view_id = v.id
            WHERE v.tenant_id = OLD.tenant_id AND v.id = OLD.view_id AND v.listed = 0
                AND shiftbook_being_erased(r.tenant_id, r.session_id, 0))
    THEN RETURN NEW; END IF;
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER view_versions_no_update BEFORE UPDATE ON view_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_view_version_stays();
CREATE TRIGGER view_versions_no_delete BEFORE DELETE ON view_versions
    FOR EACH ROW EXECUTE FUNCTION shiftbook_refuse();
