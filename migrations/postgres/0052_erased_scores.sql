-- The scores of a response name the chosen options. Retention now erases them with the answers. This clears those that
-- earlier versions left.
SELECT set_config('app.system', 'on', true);
UPDATE responses SET scores = NULL WHERE scores IS NOT NULL AND EXISTS (
    SELECT 1 FROM erasures e
    WHERE e.tenant_id = responses.tenant_id AND e.session_id = responses.session_id AND e.finished_at IS NOT NULL
);
SELECT set_config('app.system', 'off', true);
