-- The page of a document shows the newest prompts whose agents were given its memories. Without the order in the index
-- all rows of a document that is often given would be sorted for each look at it.
DROP INDEX session_memories_by_document;
CREATE INDEX session_memories_by_document ON session_memories (tenant_id, document_id, session_id, turn);
