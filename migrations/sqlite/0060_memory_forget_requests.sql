-- Members who ask that agents forget them. An admin answers by forgetting the person, which removes the row.
CREATE TABLE memory_forget_requests (
    tenant_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    asked_at INTEGER NOT NULL,
    CONSTRAINT memory_forget_requests_pk PRIMARY KEY (tenant_id, user_id),
    CONSTRAINT memory_forget_requests_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT, WITHOUT ROWID;
