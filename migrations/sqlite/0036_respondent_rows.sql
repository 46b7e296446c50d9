-- SQLite has no row-level security. The migration has the number of PostgreSQL's, which adds policies.
SELECT 1;
