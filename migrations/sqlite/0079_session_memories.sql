-- Which memories were considered for which prompt, and how useful they were.

-- One candidate of one prompt. turn: sequence of the event that recorded the block. memory_id: the id in the block. rank
-- and slot: from 1. use_hits: how often it was seen in the answer or in the arguments of tools. propensity: probability
-- with which it was injected, or withheld, as it was. No row has a text.
CREATE TABLE session_memories (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    turn INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    document_id BLOB NOT NULL,
    memory_version INTEGER NOT NULL,
    ranker TEXT NOT NULL,
    bm25 REAL NOT NULL,
    recency_d REAL NOT NULL,
    importance REAL NOT NULL,
    uses_30d INTEGER NOT NULL,
    same_person INTEGER NOT NULL,
    same_channel INTEGER NOT NULL,
    kind TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    slot INTEGER,
    injected INTEGER NOT NULL,
    propensity REAL NOT NULL,
    holdout INTEGER NOT NULL,
    use_hits INTEGER NOT NULL,
    at INTEGER NOT NULL,
    CONSTRAINT session_memories_pk PRIMARY KEY (tenant_id, session_id, turn, memory_id),
    CONSTRAINT session_memories_session_fk FOREIGN KEY (tenant_id, session_id) REFERENCES sessions (tenant_id, id),
    CONSTRAINT session_memories_slot CHECK ((injected = 1) = (slot IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX session_memories_by_document ON session_memories (tenant_id, document_id);
CREATE INDEX session_memories_used ON session_memories (tenant_id, memory_id, at, use_hits) WHERE use_hits > 0;
-- One row for each prompt that had memories.
CREATE INDEX session_memories_first ON session_memories (tenant_id, session_id, turn) WHERE slot = 1;

-- One rating of one memory of one prompt by one rater: the last one counts. rater: `agent`, or the person. source: hook,
-- api, tool, answer or person. value: as it was sent, -1 to 1. model: the model of an agent, if it is known.
CREATE TABLE memory_ratings (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    turn INTEGER NOT NULL,
    memory_id TEXT NOT NULL,
    rater TEXT NOT NULL,
    source TEXT NOT NULL,
    value REAL NOT NULL,
    model TEXT,
    rated_at INTEGER NOT NULL,
    CONSTRAINT memory_ratings_pk PRIMARY KEY (tenant_id, session_id, turn, memory_id, rater),
    CONSTRAINT memory_ratings_memory_fk FOREIGN KEY (tenant_id, session_id, turn, memory_id)
        REFERENCES session_memories (tenant_id, session_id, turn, memory_id) ON DELETE CASCADE,
    CONSTRAINT memory_ratings_source_known CHECK (source IN ('hook', 'api', 'tool', 'answer', 'person')),
    CONSTRAINT memory_ratings_value_range CHECK (value >= -1.0 AND value <= 1.0)
) STRICT, WITHOUT ROWID;
