-- The words of the full-text index of memory documents, to find other forms of a word of a search among them. A virtual
-- table: it reads the index and keeps nothing.
CREATE VIRTUAL TABLE memory_search_terms USING fts5vocab (memory_search, 'row');
