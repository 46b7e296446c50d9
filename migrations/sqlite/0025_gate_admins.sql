-- Open gates whose reviewers have left are given to the admins: a kind of reviewer of its own.
CREATE TABLE gate_reviewers_new (
    tenant_id BLOB NOT NULL,
    gate_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    reviewer_id BLOB NOT NULL,
    CONSTRAINT gate_reviewers_pk PRIMARY KEY (tenant_id, gate_id, kind, reviewer_id),
    CONSTRAINT gate_reviewers_gate_fk FOREIGN KEY (tenant_id, gate_id) REFERENCES gates (tenant_id, id),
    CONSTRAINT gate_reviewers_kind_known CHECK (kind IN ('user', 'group', 'anyone', 'admins'))
) STRICT, WITHOUT ROWID;
INSERT INTO gate_reviewers_new (tenant_id, gate_id, kind, reviewer_id)
    SELECT tenant_id, gate_id, kind, reviewer_id FROM gate_reviewers;
DROP TABLE gate_reviewers;
ALTER TABLE gate_reviewers_new RENAME TO gate_reviewers;

-- They are looked through every few seconds.
CREATE INDEX gates_open ON gates (id) WHERE state = 'open';
