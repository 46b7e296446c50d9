-- Which memories were considered for which prompt, and how useful they were.

-- One candidate of one prompt. turn: sequence of the event that recorded the block. memory_id: the id in the block. rank
-- and slot: from 1. use_hits: how often it was seen in the answer or in the arguments of tools. propensity: probability
-- with which it was injected, or withheld, as it was. No row has a text.
CREATE TABLE session_memories (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    turn bigint NOT NULL,
    memory_id text NOT NULL,
    document_id uuid NOT NULL,
    memory_version bigint NOT NULL,
    ranker text NOT NULL,
    bm25 double precision NOT NULL,
    recency_d double precision NOT NULL,
    importance double precision NOT NULL,
    uses_30d bigint NOT NULL,
    same_person boolean NOT NULL,
    same_channel boolean NOT NULL,
    kind text NOT NULL,
    tokens bigint NOT NULL,
    rank bigint NOT NULL,
    slot bigint,
    injected boolean NOT NULL,
    propensity double precision NOT NULL,
    holdout boolean NOT NULL,
    use_hits bigint NOT NULL,
    at bigint NOT NULL,
    CONSTRAINT session_memories_pk PRIMARY KEY (tenant_id, session_id, turn, memory_id),
    CONSTRAINT session_memories_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT session_memories_slot CHECK (injected = (slot IS NOT NULL))
);
CREATE INDEX session_memories_by_document ON session_memories (tenant_id, document_id);
CREATE INDEX session_memories_used ON session_memories (tenant_id, memory_id, at, use_hits) WHERE use_hits > 0;
-- One row for each prompt that had memories.
CREATE INDEX session_memories_first ON session_memories (tenant_id, session_id, turn) WHERE slot = 1;

-- One rating of one memory of one prompt by one rater: the last one counts. rater: `agent`, or the person. source: hook,
-- api, tool, answer or person. value: as it was sent, -1 to 1. model: the model of an agent, if it is known.
CREATE TABLE memory_ratings (
    tenant_id uuid NOT NULL,
    session_id uuid NOT NULL,
    turn bigint NOT NULL,
    memory_id text NOT NULL,
    rater text NOT NULL,
    source text NOT NULL,
    value double precision NOT NULL,
    model text,
    rated_at bigint NOT NULL,
    CONSTRAINT memory_ratings_pk PRIMARY KEY (tenant_id, session_id, turn, memory_id, rater),
    CONSTRAINT memory_ratings_memory_fk FOREIGN KEY (tenant_id, session_id, turn, memory_id)
        REFERENCES session_memories (tenant_id, session_id, turn, memory_id) ON DELETE CASCADE,
    CONSTRAINT memory_ratings_source_known CHECK (source IN ('hook', 'api', 'tool', 'answer', 'person')),
    CONSTRAINT memory_ratings_value_range CHECK (value >= -1.0 AND value <= 1.0)
);

GRANT SELECT, INSERT, UPDATE, DELETE ON session_memories, memory_ratings TO shiftbook_app;
DO $$ DECLARE t text; BEGIN
    FOREACH t IN ARRAY ARRAY['session_memories', 'memory_ratings'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', t);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', t);
        -- Without a subquery, so that the tables can be distributed by workspace.
        EXECUTE format('CREATE POLICY %I ON %I USING (tenant_id = shiftbook_tenant() OR shiftbook_is_system())
            WITH CHECK (tenant_id = shiftbook_tenant() OR shiftbook_is_system())', t || '_of_tenant', t);
        EXECUTE format('CREATE POLICY %I ON %I AS RESTRICTIVE USING (shiftbook_respondent() IS NULL)',
            t || '_of_no_respondent', t);
    END LOOP;
END $$;
