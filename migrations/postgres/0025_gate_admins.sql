-- Open gates whose reviewers have left are given to the admins: a kind of reviewer of its own.
ALTER TABLE gate_reviewers DROP CONSTRAINT gate_reviewers_kind_known;
ALTER TABLE gate_reviewers ADD CONSTRAINT gate_reviewers_kind_known CHECK (kind IN ('user', 'group', 'anyone', 'admins'));

-- They are looked through every few seconds.
CREATE INDEX gates_open ON gates (id) WHERE state = 'open';
