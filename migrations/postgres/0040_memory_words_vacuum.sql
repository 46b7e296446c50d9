-- The newest documents of a word are read from the index alone, if vacuum has seen their pages. With the usual fifth of
-- the table those would be the ones that it has not seen.
ALTER TABLE memory_words SET (autovacuum_vacuum_insert_scale_factor = 0.01, autovacuum_vacuum_insert_threshold = 10000);
