-- Canvases that an admin marked as templates of the workspace. is_template: 1 for one of them, otherwise 0.
ALTER TABLE canvases ADD COLUMN is_template bigint NOT NULL DEFAULT 0;
CREATE INDEX canvases_templates ON canvases (tenant_id, session_id) WHERE is_template = 1;
