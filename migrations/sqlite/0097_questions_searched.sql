-- The questions of a workspace, newest first, for the search.
CREATE INDEX gates_questions ON gates (tenant_id, id) WHERE kind = 'question';
