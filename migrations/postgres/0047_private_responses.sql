-- Responses to questions of incognito sessions are as private as these. Those of before could be read by everybody.
SELECT set_config('app.system', 'on', true);
UPDATE sessions SET private_to = (
    SELECT asking.private_to FROM responses r
    JOIN feedback_requests q ON q.tenant_id = r.tenant_id AND q.id = r.request_id
    JOIN sessions asking ON asking.tenant_id = q.tenant_id AND asking.id = q.session_id
    WHERE r.tenant_id = sessions.tenant_id AND r.session_id = sessions.id
) WHERE private_to IS NULL AND session_type = 'response' AND EXISTS (
    SELECT 1 FROM responses r
    JOIN feedback_requests q ON q.tenant_id = r.tenant_id AND q.id = r.request_id
    JOIN sessions asking ON asking.tenant_id = q.tenant_id AND asking.id = q.session_id
    WHERE r.tenant_id = sessions.tenant_id AND r.session_id = sessions.id AND asking.private_to IS NOT NULL
);
-- So are the tasks that such a response was given to.
UPDATE sessions SET private_to = (
    SELECT parent.private_to FROM sessions parent
    WHERE parent.tenant_id = sessions.tenant_id AND parent.id = sessions.parent_id
) WHERE private_to IS NULL AND source = 'promotion' AND EXISTS (
    SELECT 1 FROM sessions parent
    WHERE parent.tenant_id = sessions.tenant_id AND parent.id = sessions.parent_id AND parent.private_to IS NOT NULL
);
-- Private responses count for no view.
UPDATE response_counts SET submitted = submitted - (
    SELECT COUNT(*) FROM responses r JOIN sessions s ON s.tenant_id = r.tenant_id AND s.id = r.session_id
    WHERE r.tenant_id = response_counts.tenant_id AND r.view_id = response_counts.view_id
    AND r.state = 'submitted' AND s.private_to IS NOT NULL
);
SELECT set_config('app.system', 'off', true);
