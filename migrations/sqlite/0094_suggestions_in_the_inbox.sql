-- Suggestions for canvases are decided in the inbox too. reason: what the editor who decided wrote to the author.
ALTER TABLE canvas_suggestions ADD COLUMN reason TEXT;
-- Those of a workspace that wait, oldest first, and those that one editor decided last.
CREATE INDEX canvas_suggestions_waiting ON canvas_suggestions (tenant_id, state, at, session_id, op_id);
CREATE INDEX canvas_suggestions_by_editor ON canvas_suggestions (tenant_id, decided_by, decided_at);
