-- Sessions that wait for a person without an item in the inbox, such as a coding agent in its terminal, are found by whose they are.
CREATE INDEX sessions_waiting_of_person ON sessions (tenant_id, user_id) WHERE status = 'waiting_human';
