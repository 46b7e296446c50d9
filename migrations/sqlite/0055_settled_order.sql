-- Lists of settled, expired and withdrawn gates begin with the one that was closed last.
CREATE INDEX gates_by_settled_at ON gates (tenant_id, state, settled_at, id);
