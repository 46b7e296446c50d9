-- All ratings of one memory are counted when it is rated.
CREATE INDEX memory_ratings_by_memory ON memory_ratings (tenant_id, memory_id, session_id);
