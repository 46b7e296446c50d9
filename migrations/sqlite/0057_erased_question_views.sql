-- The view that was made for one question of an agent has the texts of that question. Retention now erases them with
-- the session that asked: the title, the introduction, and of each field its label, help, options, default, condition
-- and the labels of its scale. The keys, kinds and limits of the fields stay: a response can be kept longer than the
-- question, and is read with them.

-- The trigger below looks for the question of a view.
CREATE INDEX feedback_requests_of_view ON feedback_requests (tenant_id, view_id);

DROP TRIGGER view_versions_no_update;
-- This clears what earlier versions left.
UPDATE view_versions SET title = '(erased)', introduction = '', fields = (
    SELECT json_group_array(json_replace(
        json_remove(f.value, '$.help', '$.default', '$.showIf', '$.lowLabel', '$.highLabel'),
        '$.label', '(erased)', '$.options', json('[]')))
    FROM json_each(view_versions.fields) f
) WHERE EXISTS (
    SELECT 1 FROM views v
    JOIN feedback_requests r ON r.tenant_id = v.tenant_id AND r.view_id = v.id
    JOIN erasures e ON e.tenant_id = r.tenant_id AND e.session_id = r.session_id
    WHERE v.tenant_id = view_versions.tenant_id AND v.id = view_versions.view_id AND v.listed = 0
        AND e.finished_at IS NOT NULL
);
UPDATE views SET title = '(erased)', introduction = '', fields = (
    SELECT json_group_array(json_replace(
        json_remove(f.value, '$.help', '$.default', '$.showIf', '$.lowLabel', '$.highLabel'),
        '$.label', '(erased)', '$.options', json('[]')))
    FROM json_each(views.fields) f
) WHERE listed = 0 AND EXISTS (
    SELECT 1 FROM feedback_requests r
    JOIN erasures e ON e.tenant_id = r.tenant_id AND e.session_id = r.session_id
    WHERE r.tenant_id = views.tenant_id AND r.view_id = views.id AND e.finished_at IS NOT NULL
);

-- A version changes in one way: its texts are erased, while an erasure of the session that asked is under way.
CREATE TRIGGER view_versions_no_update BEFORE UPDATE ON view_versions
WHEN NOT (NEW.title = '(erased)' AND NEW.introduction = ''
    AND NEW.fields = (
        SELECT json_group_array(json_replace(
            json_remove(f.value, '$.help', '$.default', '$.showIf', '$.lowLabel', '$.highLabel'),
            '$.label', '(erased)', '$.options', json('[]')))
        FROM json_each(OLD.fields) f
    )
    AND NEW.tenant_id = OLD.tenant_id AND NEW.view_id = OLD.view_id AND NEW.version = OLD.version
    AND NEW.publish_config = OLD.publish_config AND NEW.published_by = OLD.published_by
    AND NEW.published_at = OLD.published_at
    AND EXISTS (SELECT 1 FROM views v
        JOIN feedback_requests r ON r.tenant_id = v.tenant_id AND r.view_id = v.id
        JOIN erasures e ON e.tenant_id = r.tenant_id AND e.session_id = r.session_id
        WHERE v.tenant_id = OLD.tenant_id AND v.id = OLD.view_id AND v.listed = 0 AND e.finished_at IS NULL))
BEGIN SELECT RAISE(ABORT, 'view_versions is append-only'); END;
