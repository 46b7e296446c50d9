-- Full text search over events. A background job of the server follows the log: nothing is added to appends.
--
-- The index has words and no text: domain::search makes them from events. The rowid of an entry is the rowid of its event
-- in session_events, from which nothing is deleted, so newer events have higher ones. Each word has the number of its
-- workspace in front, as in memory_search. words: in their order. parts: of words that are written likeThis.
CREATE VIRTUAL TABLE search_events USING fts5 (words, parts, content = '', columnsize = 0, tokenize = 'ascii');
-- What is deleted leaves the index at once, not when its segments are merged.
INSERT INTO search_events (search_events, rank) VALUES ('secure-delete', 1);

-- The numbers of workspaces in the index.
CREATE TABLE search_scopes (
    scope_id INTEGER PRIMARY KEY,
    tenant_id BLOB NOT NULL,
    CONSTRAINT search_scopes_tenant_unique UNIQUE (tenant_id),
    CONSTRAINT search_scopes_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (id)
) STRICT;

-- How far each session is in the index. Incognito sessions are in none.
CREATE TABLE search_sessions (
    tenant_id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    -- Events 1 to this one are in the index, those without words left out.
    sequence INTEGER NOT NULL,
    -- Its content is erased or being erased: nothing is added any more.
    is_closed INTEGER NOT NULL,
    CONSTRAINT search_sessions_pk PRIMARY KEY (tenant_id, session_id)
) STRICT, WITHOUT ROWID;

-- One row. rule: by which rule of domain::search the index was made; 0 before it was begun. indexed_until: all events that
-- were committed before are in the index; null until the first pass over all sessions is done.
CREATE TABLE search_state (
    id INTEGER NOT NULL,
    rule INTEGER NOT NULL,
    indexed_until INTEGER,
    CONSTRAINT search_state_pk PRIMARY KEY (id)
) STRICT;
INSERT INTO search_state (id, rule) VALUES (1, 0);
