-- Messages on their way out, and who gets them.

-- A workspace's URLs that are told what happens. events: JSON array of names. The secret that signs is not here: it is
-- derived from the instance's key and the row's id.
CREATE TABLE webhooks (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    url text NOT NULL,
    events text NOT NULL,
    created_by text NOT NULL,
    created_at bigint NOT NULL,
    disabled_at bigint,
    disabled_reason text,
    CONSTRAINT webhooks_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT webhooks_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
);

-- Written in the transaction of what it reports, delivered later by whichever server takes it. due_at is also the
-- lease: taking a message moves it on, so that a server that dies in between delays the message and loses nothing.
CREATE TABLE outbox (
    tenant_id uuid NOT NULL,
    id uuid NOT NULL,
    channel text NOT NULL,
    target_id uuid NOT NULL,
    topic text NOT NULL,
    payload text NOT NULL,
    created_at bigint NOT NULL,
    due_at bigint NOT NULL,
    attempts bigint NOT NULL,
    last_error text,
    delivered_at bigint,
    dead_at bigint,
    CONSTRAINT outbox_pk PRIMARY KEY (tenant_id, id),
    CONSTRAINT outbox_channel_known CHECK (channel IN ('webhook', 'email'))
);
CREATE INDEX outbox_due ON outbox (due_at) WHERE delivered_at IS NULL AND dead_at IS NULL;
CREATE INDEX outbox_by_target ON outbox (tenant_id, target_id, id);
CREATE INDEX outbox_done ON outbox (created_at) WHERE delivered_at IS NOT NULL OR dead_at IS NOT NULL;
-- Every message is updated at least twice and deleted in the end.
ALTER TABLE outbox SET (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

-- Whether a person wants an e-mail when something waits for them in this workspace.
ALTER TABLE memberships ADD COLUMN wants_email bigint NOT NULL DEFAULT 0;

GRANT SELECT, INSERT, UPDATE, DELETE ON webhooks, outbox TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['webhooks', 'outbox'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))
            WITH CHECK (tenant_id = (SELECT shiftbook_tenant()) OR (SELECT shiftbook_is_system()))', t || '_of_tenant', t);
    END LOOP;
END $$;
