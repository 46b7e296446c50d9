-- Whether a workspace shares numbers about the usefulness of memories for training.

-- enabled: the answer; NULL if nobody has answered. installed_at: from when the seven days count in which agents ask.
CREATE TABLE telemetry_opt_in (
    tenant_id BLOB NOT NULL,
    enabled INTEGER,
    last_prompted_at INTEGER,
    installed_at INTEGER NOT NULL,
    CONSTRAINT telemetry_opt_in_pk PRIMARY KEY (tenant_id),
    CONSTRAINT telemetry_opt_in_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;
