-- Messages on their way out, and who gets them.

-- A workspace's URLs that are told what happens. events: JSON array of names. The secret that signs is not here: it is
-- derived from the instance's key and the row's id.
CREATE TABLE webhooks (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disabled_reason TEXT,
    CONSTRAINT webhooks_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT webhooks_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- Written in the transaction of what it reports, delivered later by whichever server takes it. due_at is also the
-- lease: taking a message moves it on, so that a server that dies in between delays the message and loses nothing.
CREATE TABLE outbox (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    channel TEXT NOT NULL,
    target_id BLOB NOT NULL,
    topic TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    last_error TEXT,
    delivered_at INTEGER,
    dead_at INTEGER,
    CONSTRAINT outbox_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT outbox_channel_known CHECK (channel IN ('webhook', 'email'))
) STRICT;
CREATE INDEX outbox_due ON outbox (due_at) WHERE delivered_at IS NULL AND dead_at IS NULL;
CREATE INDEX outbox_by_target ON outbox (tenant_id, target_id, id);
CREATE INDEX outbox_done ON outbox (created_at) WHERE delivered_at IS NOT NULL OR dead_at IS NOT NULL;

-- Whether a person wants an e-mail when something waits for them in this workspace.
ALTER TABLE memberships ADD COLUMN wants_email INTEGER NOT NULL DEFAULT 0;
